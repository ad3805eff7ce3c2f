import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { until, waitFor } from './wait-for.ts';

/** A request as a receiver got it. */
export interface Received {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // Tests look into bodies freely; what they must look like is what they assert.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  at: number;
}

export type Respond = (request: Received, response: ServerResponse, incoming: IncomingMessage) => void | Promise<void>;

/** An endpoint for webhooks on this machine, which keeps what it got. */
export interface Receiver {
  url: string;
  /** Everything so far, in the order in which it came. */
  received: Received[];
  /** How it answers from now on; 200 until it is told otherwise. */
  respond: Respond;
  /** Waits until so many requests have come in, and gives them. */
  got(count: number): Promise<Received[]>;
  /** Waits until all connections are closed: what a killed process had sent has come in by then. */
  disconnected(): Promise<void>;
  close(): Promise<void>;
}

async function read(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString());
  } catch {
    return undefined;
  }
}

/** Answers with a status and nothing else. */
export function answering(status: number): Respond {
  return (_request, response) => void response.writeHead(status).end();
}

/** @param port 0: one that is free */
export async function startReceiver(respond: Respond = answering(200), port = 0): Promise<Receiver> {
  const server = createServer(async (incoming, response) => {
    const raw = await read(incoming).catch(() => undefined);
    if (raw === undefined) return;
    const request = { headers: incoming.headers, raw, body: parse(raw), at: Date.now() };
    receiver.received.push(request);
    await receiver.respond(request, response, incoming);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  const connections = promisify(server.getConnections.bind(server));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    received: [],
    respond,
    got: (count) =>
      waitFor(`${count} requests at the receiver`, async () =>
        receiver.received.length >= count ? receiver.received : undefined,
      ),
    async disconnected() {
      await until('the receiver has no connections', async () => (await connections()) === 0);
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}
