import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { until, waitFor } from './wait-for.ts';

/** A request as a receiver got it. */
export interface Received {
  headers: IncomingHttpHeaders;
  raw: Buffer;
  // Untyped: tests assert the shape of bodies themselves.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  body: any;
  at: number;
}

export type Respond = (request: Received, response: ServerResponse, incoming: IncomingMessage) => void | Promise<void>;

/** A webhook endpoint on this machine, which records what it receives. */
export interface Receiver {
  url: string;
  /** Everything so far, in order of arrival. */
  received: Received[];
  /** How it responds; 200 by default. */
  respond: Respond;
  /** Waits until that many requests have arrived, and returns them. */
  got(count: number): Promise<Received[]>;
  /** Waits until all connections are closed: by then everything that a killed process sent has arrived. */
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

/** Responds with only a status. */
export function answering(status: number): Respond {
  return (_request, response) => void response.writeHead(status).end();
}

/** @param port 0 for a free one */
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
