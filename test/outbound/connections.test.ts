import { afterEach, describe, expect, test } from '@jest/globals';
import { closeAll, closing, outbound, post, startRawReceiver, startReceiver } from './support.ts';

afterEach(closeAll);

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

test('connections serve one request after the other', async () => {
  const receiver = closing(await startReceiver((_request, response) => response.end('ok')));
  const to = outbound();
  for (let count = 0; count < 20; count += 1) {
    expect(await post(to, `http://127.0.0.1:${receiver.port}/${count}`)).toMatchObject({ status: 200 });
  }
  // A second one, if the first was not released yet when the next request came.
  expect(receiver.connections).toBeLessThanOrEqual(2);
});

test('requests at the same time do not wait for each other', async () => {
  const waiting: (() => void)[] = [];
  const receiver = closing(
    await startReceiver((_request, response) => {
      waiting.push(() => response.end());
      // None is answered before all have arrived.
      if (waiting.length === 20) for (const answer of waiting) answer();
    }),
  );
  const to = outbound();
  const results = await Promise.all(Array.from({ length: 20 }, () => post(to, `http://127.0.0.1:${receiver.port}/`)));
  expect(results.every(({ error }) => error === null)).toBe(true);
});

test('an idle connection is closed', async () => {
  const receiver = closing(await startRawReceiver((socket) => socket.write(OK)));
  await post(outbound(), `http://127.0.0.1:${receiver.port}/`);
  expect(receiver.connections).toBe(1);
  await receiver.idle();
});

test('a connection closed by the receiver is not used again', async () => {
  const receiver = closing(await startRawReceiver((socket) => socket.end(OK)));
  const to = outbound();
  expect(await post(to, `http://127.0.0.1:${receiver.port}/1`)).toMatchObject({ status: 200 });
  await receiver.idle();
  expect(await post(to, `http://127.0.0.1:${receiver.port}/2`)).toMatchObject({ status: 200 });
  expect(receiver.connections).toBe(2);
});

describe('a connection that is closed during a request', () => {
  test.each([
    ['closed', 'the connection was closed before the response was complete'],
    ['reset', 'connection reset'],
  ])('%s: the request failed, and is not sent a second time', async (how, error) => {
    const receiver = closing(
      await startRawReceiver((socket) => {
        if (receiver.requests.length !== 2) socket.write(OK);
        else if (how === 'reset') socket.resetAndDestroy();
        else socket.end();
      }),
    );
    const to = outbound();
    expect(await post(to, `http://127.0.0.1:${receiver.port}/1`)).toMatchObject({ status: 200 });
    expect(await post(to, `http://127.0.0.1:${receiver.port}/2`)).toMatchObject({ status: null, error });
    expect(await post(to, `http://127.0.0.1:${receiver.port}/3`)).toMatchObject({ status: 200 });
    expect(receiver.requests).toEqual(['POST /1', 'POST /2', 'POST /3']);
    expect(receiver.connections).toBe(2);
  });
});

test('data after an answer is not part of the next one', async () => {
  const receiver = closing(
    await startRawReceiver((socket) => {
      const next = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake';
      socket.write(receiver.requests.length === 1 ? OK + next : OK);
    }),
  );
  const to = outbound();
  expect(await post(to, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ body: 'ok' });
  await receiver.idle();
  expect(await post(to, `http://127.0.0.1:${receiver.port}/`)).toMatchObject({ body: 'ok' });
});

test('closing waits for open requests, and can be requested twice', async () => {
  const asked = Promise.withResolvers<() => void>();
  const receiver = closing(await startReceiver((_request, response) => asked.resolve(() => response.end('late'))));
  const to = outbound();
  const result = post(to, `http://127.0.0.1:${receiver.port}/`);
  const answer = await asked.promise;
  const closed = Promise.all([to.close(), to.close()]);
  answer();
  expect(await result).toMatchObject({ status: 200, body: 'late' });
  await closed;
});
