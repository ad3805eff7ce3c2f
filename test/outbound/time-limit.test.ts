import type { LookupFunction, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeAll, closing, outbound, post, startRawReceiver, startReceiver } from './support.ts';

afterEach(closeAll);

/** Writes again and again until the connection is closed. */
function drip(socket: Socket, text: () => string): void {
  const timer = setInterval(() => socket.write(text()), 20);
  socket.on('close', () => clearInterval(timer));
}

const HEAD = 'HTTP/1.1 200 OK\r\n';

describe('a slow receiver', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['begins an answer and stops', (socket) => socket.write(`${HEAD}content-length: 5\r\n\r\nab`)],
    [
      'sends its answer byte by byte',
      (socket) => {
        socket.write(`${HEAD}content-length: 100000\r\n\r\n`);
        drip(socket, () => 'x');
      },
    ],
    [
      'sends its answer chunk by chunk',
      (socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`);
        drip(socket, () => '1\r\nx\r\n');
      },
    ],
    [
      'sends one header after the other',
      (socket) => {
        socket.write(HEAD);
        drip(socket, () => 'x-a: b\r\n');
      },
    ],
    [
      'sends its status byte by byte',
      (socket) => drip(socket, () => (socket.bytesWritten === 0 ? HEAD.trimEnd() : 'x')),
    ],
    [
      'goes on announcing an answer',
      (socket) => {
        let announced = 0;
        drip(socket, () => {
          announced += 1;
          return announced <= 10 ? 'HTTP/1.1 102 Wait\r\n\r\n' : '';
        });
      },
    ],
  ])('%s', async (_name, answer) => {
    const receiver = closing(await startRawReceiver(answer));
    const result = await post(outbound({ timeoutMs: 300 }), `http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ status: null, error: 'timed out after 0.3 s' });
    expect(result.durationMs).toBeGreaterThanOrEqual(299);
    await receiver.idle();
  });

  test('is still known to have failed, if its status says so', async () => {
    const receiver = closing(
      await startRawReceiver((socket) => socket.write('HTTP/1.1 500 No\r\ncontent-length: 5\r\n\r\nab')),
    );
    const result = await post(outbound({ timeoutMs: 300 }), `http://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ status: 500, body: 'ab', error: 'HTTP 500' });
  });

  test('before the connection is encrypted', async () => {
    const receiver = closing(await startRawReceiver(() => {}));
    const result = await post(outbound({ timeoutMs: 300 }), `https://127.0.0.1:${receiver.port}/`);
    expect(result).toMatchObject({ status: null, error: 'timed out after 0.3 s' });
    await receiver.idle();
  });
});

test('a request can have less time than the others', async () => {
  const receiver = closing(await startRawReceiver(() => {}));
  const request = { url: `http://127.0.0.1:${receiver.port}/`, headers: {}, body: Buffer.of() };
  expect(await outbound().post({ ...request, timeoutMs: 200 })).toMatchObject({ error: 'timed out after 0.2 s' });
  await receiver.idle();
});

describe('a slow name lookup', () => {
  test('counts as time used', async () => {
    const to = outbound({ timeoutMs: 300, lookup: () => {} });
    expect(await post(to, 'https://slow.test/')).toMatchObject({ status: null, error: 'timed out after 0.3 s' });
  });

  test('that succeeds late sends nothing that was given up', async () => {
    const receiver = closing(await startReceiver());
    let answerDns = () => {};
    const slow: LookupFunction = (_hostname, _options, callback) => {
      answerDns = () => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const to = outbound({ lookup: slow });
    const giveUp = new AbortController();
    const first = post(to, `http://slow.localhost:${receiver.port}/first`, giveUp.signal);
    giveUp.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    answerDns();
    const again = post(to, `http://slow.localhost:${receiver.port}/second`);
    answerDns();
    expect(await again).toMatchObject({ status: 200 });
    expect(receiver.requests).toEqual(['POST /second']);
  });
});

describe('a caller who gives up', () => {
  test('gets back the reason, and the connection is closed', async () => {
    const giveUp = new AbortController();
    const reason = new Error('enough');
    const receiver = closing(await startRawReceiver(() => giveUp.abort(reason)));
    await expect(post(outbound(), `http://127.0.0.1:${receiver.port}/`, giveUp.signal)).rejects.toBe(reason);
    await receiver.idle();
  });

  test('during the answer gets the reason, too', async () => {
    const giveUp = new AbortController();
    const reason = new Error('enough');
    const receiver = closing(
      await startRawReceiver((socket) => {
        socket.write(`${HEAD}content-length: 5\r\n\r\nab`, () => setImmediate(() => giveUp.abort(reason)));
      }),
    );
    await expect(post(outbound(), `http://127.0.0.1:${receiver.port}/`, giveUp.signal)).rejects.toBe(reason);
    await receiver.idle();
  });

  test('before the start sends nothing', async () => {
    const receiver = closing(await startReceiver());
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(post(outbound(), `http://127.0.0.1:${receiver.port}/`, signal)).rejects.toBe(reason);
    await expect(post(outbound(), 'nonsense', signal)).rejects.toBe(reason);
    expect(receiver.connections).toBe(0);
  });
});
