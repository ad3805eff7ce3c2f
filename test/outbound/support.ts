import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type LookupFunction,
  type Server,
  type Socket,
} from 'node:net';
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundResult,
} from '../../src/outbound/outbound.ts';

/** A listener on 127.0.0.1. */
export interface Receiver {
  port: number;
  /** Number of connections made to it. */
  connections: number;
  /** The `POST /path` of each request. */
  requests: string[];
  /** Resolves when every connection is closed. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

export type Certificate = 'good' | 'expired' | 'other-host' | 'self-signed';

function certificateFile(name: string): string {
  return readFileSync(new URL(`./certificates/${name}`, import.meta.url), 'utf8');
}

/** The authority of the certificates. */
export function testAuthority(): string {
  return certificateFile('ca.pem');
}

/** Speaks HTTP, or HTTPS with a certificate. */
export async function startReceiver(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void = (_request, response) => {
    response.end();
  },
  certificate?: Certificate,
): Promise<Receiver> {
  const requests: string[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    answer(request, response, Buffer.concat(chunks).toString());
  };
  const server =
    certificate === undefined
      ? createServer(listener)
      : createSecureServer(
          { cert: certificateFile(`${certificate}.pem`), key: certificateFile(`${certificate}.key`) },
          listener,
        );
  return listen(server, requests);
}

/** Writes a raw response once the whole request has arrived. */
export async function startRawReceiver(answer: (socket: Socket) => void): Promise<Receiver> {
  const requests: string[] = [];
  const server = createTcpServer((socket) => {
    let came = '';
    socket.on('data', (chunk) => {
      came += chunk.toString('latin1');
      const head = /^(POST \S+) .*?content-length: (\d+).*?\r\n\r\n/s.exec(came);
      if (head === null || came.length < head[0].length + Number(head[2])) return;
      came = '';
      requests.push(head[1] ?? '');
      answer(socket);
    });
  });
  return listen(server, requests);
}

async function listen(server: Server, requests: string[]): Promise<Receiver> {
  const open = new Set<Socket>();
  let whenIdle: (() => void) | undefined;
  const receiver: Receiver = {
    port: 0,
    connections: 0,
    requests,
    idle: () =>
      new Promise((resolve) => {
        if (open.size === 0) resolve();
        else whenIdle = resolve;
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
  server.on('connection', (socket: Socket) => {
    receiver.connections += 1;
    open.add(socket);
    // Refused clients close the connection; most of these tests are about that.
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) whenIdle?.();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.port = portOf(server.address());
  return receiver;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.');
  return address.port;
}

/** A lookup that returns each list in turn, and then always the last one. */
export function resolvingTo(...answers: string[][]): { lookup: LookupFunction; asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    setImmediate(() =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
  return { lookup, asked };
}

const open: { close(): Promise<void> }[] = [];

/** Has it closed by `closeAll`. */
export function closing<T extends { close(): Promise<void> }>(resource: T): T {
  open.push(resource);
  return resource;
}

export async function closeAll(): Promise<void> {
  for (const resource of open.splice(0).reverse()) await resource.close();
}

/** With this machine allowed, and a limit that tests don't reach. */
export function outbound(options: Partial<OutboundOptions> = {}): Outbound {
  return closing(createOutbound({ allowPrivate: 'loopback', timeoutMs: 20_000, ...options }));
}

export function post(to: Outbound, url: string, signal?: AbortSignal): Promise<OutboundResult> {
  return to.post({
    url,
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
    body: Buffer.from('{"a":1}'),
    ...(signal === undefined ? {} : { signal }),
  });
}
