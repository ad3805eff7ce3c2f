import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { closeAll, closing, outbound, post, type Receiver, startRawReceiver, startReceiver } from './support.ts';

afterEach(closeAll);

/** Posts to a server that writes `text` and then does `then`. */
async function answered(text: string | Buffer, then: (socket: Socket) => void = () => {}) {
  const receiver = closing(
    await startRawReceiver((socket) => {
      socket.write(text, () => then(socket));
    }),
  );
  return post(outbound(), urlOf(receiver));
}

function urlOf({ port }: Receiver): string {
  return `http://127.0.0.1:${port}/hook?id=1`;
}

const CLOSED = 'the connection was closed before the response was complete';

test('a request arrives unchanged', async () => {
  const seen = Promise.withResolvers<unknown>();
  const receiver = closing(
    await startReceiver((request, response, body) => {
      seen.resolve({ request: `${request.method} ${request.url}`, type: request.headers['content-type'], body });
      response.writeHead(202).end('thanks');
    }),
  );
  expect(await post(outbound(), urlOf(receiver))).toEqual({
    status: 202,
    body: 'thanks',
    error: null,
    refused: false,
    durationMs: expect.any(Number),
  });
  expect(await seen.promise).toEqual({ request: 'POST /hook?id=1', type: 'application/json', body: '{"a":1}' });
});

test.each([
  [200, null],
  [201, null],
  [204, null],
  [299, null],
  [300, 'HTTP 300'],
  [304, 'HTTP 304'],
  [307, 'HTTP 307 (redirects are not followed)'],
  [400, 'HTTP 400'],
  [401, 'HTTP 401'],
  [410, 'HTTP 410'],
  [429, 'HTTP 429'],
  [500, 'HTTP 500'],
  [503, 'HTTP 503'],
])('status %i: %s', async (status, error) => {
  const receiver = closing(await startReceiver((_request, response) => response.writeHead(status).end()));
  expect(await post(outbound(), urlOf(receiver))).toMatchObject({ status, body: null, error });
});

describe('the stored text', () => {
  async function kept(body: string | Buffer) {
    const receiver = closing(await startReceiver((_request, response) => response.end(body)));
    return (await post(outbound(), urlOf(receiver))).body;
  }

  test('is the first KiB', async () => {
    expect(await kept('x'.repeat(1024))).toBe('x'.repeat(1024));
    expect(await kept('x'.repeat(5000))).toBe('x'.repeat(1024));
  });

  test('is as long as the request asks for, up to what is read', async () => {
    const receiver = closing(await startReceiver((_request, response) => response.end('ä'.repeat(50_000))));
    const request = { url: urlOf(receiver), headers: {}, body: Buffer.of() };
    const keeping = async (maxKeptBytes: number) => (await outbound().post({ ...request, maxKeptBytes })).body;
    expect(await keeping(5_001)).toBe('ä'.repeat(2_500));
    expect(await keeping(64 * 1024)).toBe('ä'.repeat(32 * 1024));
  });

  test('does not end in half a character', async () => {
    expect(await kept(`x${'ä'.repeat(1000)}`)).toBe(`x${'ä'.repeat(511)}`);
  });

  test('can always be stored', async () => {
    expect(await kept(Buffer.from([0x61, 0x00, 0xff, 0x62, 0xc3]))).toBe('a\uFFFD\uFFFDb\uFFFD');
  });

  test('is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000, 'a'));
    const receiver = closing(
      await startReceiver((_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)),
    );
    const { error, body } = await post(outbound(), urlOf(receiver));
    expect(error).toBeNull();
    expect(body).not.toContain('aaaa');
    expect(body?.length).toBeLessThanOrEqual(1024);
  });
});

describe('an answer that is too long', () => {
  async function long(status: number) {
    const wanted = 200 * 1024 * 1024;
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    const receiver = closing(
      await startReceiver((_request, response) => {
        response.on('close', () => closed.resolve());
        response.writeHead(status, { 'content-length': wanted });
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const send = () => {
          let hasRoom = true;
          while (hasRoom && sent < wanted && !response.destroyed) {
            sent += chunk.length;
            hasRoom = response.write(chunk);
          }
        };
        response.on('drain', send);
        send();
      }),
    );
    const result = await post(outbound(), urlOf(receiver));
    await closed.promise;
    return { result, sent };
  }

  test('is a success if its status is, and is not read to its end', async () => {
    const { result, sent } = await long(200);
    expect(result).toMatchObject({ status: 200, error: null, body: 'x'.repeat(1024) });
    // The size of buffers on the way, instead of 200 MB.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  test('is a failure if its status is', async () => {
    const { result, sent } = await long(500);
    expect(result).toMatchObject({ status: 500, error: 'HTTP 500', body: 'x'.repeat(1024) });
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });
});

describe('an answer that ends early', () => {
  test.each([
    ['within the body', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc', 'abc'],
    ['within a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\nabc', 'abc'],
    ['before the last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n', 'abc'],
    [
      'within the body, with a farewell',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 10\r\n\r\nabc',
      'abc',
    ],
    [
      'before the last chunk, with a farewell',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      'abc',
    ],
    ['within the headers', 'HTTP/1.1 200 OK\r\ncontent-le', null],
    ['before it began', '', null],
  ])('%s is a failure', async (_where, text, body) => {
    expect(await answered(text, (socket) => socket.end())).toMatchObject({ status: null, body, error: CLOSED });
  });

  test('by a reset is a failure', async () => {
    const result = await answered('', (socket) => socket.resetAndDestroy());
    expect(result).toMatchObject({ status: null, body: null, error: 'connection reset' });
  });

  test('has its status if that is a failure', async () => {
    const result = await answered('HTTP/1.1 503 No\r\ncontent-length: 10\r\n\r\nabc', (socket) => socket.end());
    expect(result).toMatchObject({ status: 503, body: 'abc', error: 'HTTP 503' });
  });

  test('is complete if the end of the connection is the end of the answer', async () => {
    const result = await answered('HTTP/1.1 200 OK\r\n\r\nabc', (socket) => socket.end());
    expect(result).toMatchObject({ status: 200, body: 'abc', error: null });
  });
});

describe('an invalid answer', () => {
  const ok = 'HTTP/1.1 200 OK\r\n';
  test.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 'not an HTTP response'],
    ['bytes', '\u0000\u0001\u0002\u0003\r\n\r\n', 'not an HTTP response'],
    ['another version', 'HTTP/9.9 200 OK\r\n\r\n', 'not an HTTP response'],
    ['an invalid length', `${ok}content-length: ten\r\n\r\n`, 'not an HTTP response'],
    ['an invalid chunk', `${ok}transfer-encoding: chunked\r\n\r\nxyz\r\n`, 'not an HTTP response'],
    ['a large header', `${ok}x: ${'x'.repeat(20_000)}\r\n\r\n`, 'the response headers are too large'],
    ['the large name of a header', `${ok}${'x'.repeat(20_000)}`, 'the response headers are too large'],
    ['many headers', `${ok}${'x-a: b\r\n'.repeat(5_000)}`, 'the response headers are too large'],
    ['many announcements', 'HTTP/1.1 102 Wait\r\n\r\n'.repeat(50), 'too many interim (1xx) responses'],
    ['a change of protocol', 'HTTP/1.1 101 Now\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n', CLOSED],
  ])('%s', async (_name, text, error) => {
    expect(await answered(text)).toMatchObject({ status: null, error });
  });

  test('an interim answer before the real one is fine', async () => {
    const text = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
    expect(await answered(text)).toMatchObject({ status: 200, body: 'ok', error: null });
  });
});

test('no server', async () => {
  const gone = await startReceiver();
  await gone.close();
  expect(await post(outbound(), urlOf(gone))).toMatchObject({ status: null, body: null, error: 'connection refused' });
});

test('an invalid header fails the request and throws nothing', async () => {
  const receiver = closing(await startReceiver());
  const result = await outbound().post({
    url: urlOf(receiver),
    headers: { 'x-secret': 'a\r\nb' },
    body: Buffer.from('{}'),
  });
  expect(result).toMatchObject({ status: null, error: 'the request failed (UND_ERR_INVALID_ARG)' });
  expect(receiver.requests).toEqual([]);
});

test('nothing is sent after the end', async () => {
  const receiver = closing(await startReceiver());
  const to = outbound();
  await to.close();
  expect(await post(to, urlOf(receiver))).toMatchObject({ status: null, error: 'this service is stopping' });
  expect(receiver.connections).toBe(0);
});
