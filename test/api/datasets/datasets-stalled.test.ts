import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { withUpload } from '../../../src/api/datasets/upload-body.ts';

const STALL_MS = 200;

let server: http.Server;
let received: string;
beforeEach(async () => {
  received = '';
  server = http.createServer((request, response) => {
    withUpload(
      request,
      async (_, bytes) => {
        for await (const chunk of bytes) received += chunk.toString();
      },
      STALL_MS,
    ).then(
      () => response.end('whole'),
      (error: Error) => response.end(error.message),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

function open(): { request: http.ClientRequest; answer: Promise<string> } {
  const { port } = server.address() as AddressInfo;
  const request = http.request({ port, method: 'PUT', headers: { 'Content-Type': 'text/csv' } });
  // The connection is cut once the answer is there.
  request.on('error', () => {});
  const answer = new Promise<string>((resolve) => {
    request.on('response', async (response) => resolve(Buffer.concat(await response.toArray()).toString()));
  });
  return { request, answer };
}

test('a stalled upload is given up, with an answer', async () => {
  const { request, answer } = open();
  request.write('a,b\n');
  expect(await answer).toBe('The upload stalled: no bytes for 0.2 s.');
  expect(received).toBe('a,b\n');
  request.destroy();
});

test('a slow upload is not', async () => {
  // The test controls the clock of the stall: it advances between received chunks.
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  try {
    const { request, answer } = open();
    for (let n = 1; n <= 8; n += 1) {
      request.write('x\n');
      while (received.length < 2 * n) await new Promise(setImmediate);
      jest.advanceTimersByTime(STALL_MS / 2);
    }
    request.end();
    expect(await answer).toBe('whole');
  } finally {
    jest.useRealTimers();
  }
});
