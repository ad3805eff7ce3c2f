import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** One event in this many has a bad receiver that fails its first attempt. */
const BAD_ONE_IN = 5;

const Sent = z.object({ timestamp: z.iso.datetime() });

/** The failures of first attempts, in rotation. The second attempt succeeds. */
const FAULTS: ((response: ServerResponse) => void)[] = [
  (response) => response.writeHead(503).end('not now'),
  // Never responds.
  () => {},
  (response) => response.destroy(),
  (response) => void response.writeHead(200, { 'content-length': '100' }).write('half of', () => response.destroy()),
];

export interface SoakReceivers {
  /** Responds immediately. */
  good: string;
  /** One first attempt in five fails. */
  bad: string;
  /** Rejects everything. */
  hopeless: string;
  close(): Promise<void>;
}

/** @param arrived called with the delay of each first attempt at the good receiver after its event, in milliseconds */
export async function startSoakReceivers(arrived: (ms: number) => void): Promise<SoakReceivers> {
  let received = 0;
  let faults = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const isFirst = request.headers['x-delivery-attempt'] === '1';
    if (request.url === '/hopeless') return void response.writeHead(500).end();
    if (request.url === '/good') {
      const { timestamp } = Sent.parse(JSON.parse(Buffer.concat(chunks).toString()));
      if (isFirst) arrived(Date.now() - Date.parse(timestamp));
    } else if (isFirst) {
      received += 1;
      if (received % BAD_ONE_IN === 0) {
        faults += 1;
        return FAULTS[faults % FAULTS.length]?.(response);
      }
    }
    response.writeHead(204).end();
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = (path: string) => `http://127.0.0.1:${port}/${path}`;
  return {
    good: url('good'),
    bad: url('bad'),
    hopeless: url('hopeless'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
