import net from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { type RawAnswer, sendRaw } from './raw-http.ts';

let service: TestService;
let port: number;
let head: string;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  port = Number(new URL(service.origin).port);
  head = `Host: x\r\nAuthorization: Bearer ${service.key}\r\nConnection: close\r\n`;
});
afterAll(() => service?.stop());

/** Properties of every response, from any layer. */
function checkAny({ headers, body }: RawAnswer): void {
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  expect(headers['x-request-id']).toMatch(/^req_[0-9a-f-]{36}$/);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(body));
}

function checkForm(answer: RawAnswer, expected: number): void {
  const { status, body } = answer;
  expect([status, body]).toEqual([expected, expect.anything()]);
  checkAny(answer);
  const parsed = JSON.parse(body);
  if (expected >= 400) expect(parsed).toEqual({ error: { code: expect.any(String), message: expect.any(String) } });
}

describe('an invalid HTTP request is answered with 400', () => {
  const post = (more: string, body = '') =>
    `POST /v1/prompts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\n${more}\r\n${body}`;
  test.each<[string, string | Buffer]>([
    ['words', 'hello there\r\n\r\n'],
    ['a TLS greeting', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown method', 'FETCH /v1/prompts HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['lines that end in LF', 'GET /healthz HTTP/1.1\nHost: x\n\n'],
    ['a space in a header name', 'GET /healthz HTTP/1.1\r\nHo st: x\r\n\r\n'],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: \0\r\n\r\n'],
    ['raw bytes in the path', Buffer.from('GET /v1/prompts/\xe9 HTTP/1.1\r\nHost: x\r\n\r\n', 'latin1')],
    ['a target that is a query', 'GET ?x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a target that is a fragment', 'GET #x HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CONNECT', 'CONNECT example.test:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['headers without end', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path without end', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['too many headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(4_000)}\r\n`],
    ['a length and chunks', post('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 3\r\n', '{}')],
    ['a length that is not a number', post('Content-Length: many\r\n')],
    ['a negative length', post('Content-Length: -1\r\n')],
    ['another transfer encoding', post('Transfer-Encoding: gzip\r\n', '0\r\n\r\n')],
    ['chunked that is not last', post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n')],
    ['a broken chunk size', post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
    ['a chunk longer than said', post('Transfer-Encoding: chunked\r\n', '1\r\n{}\r\n0\r\n\r\n')],
  ])('%s', async (_, bytes) => {
    const answer = await sendRaw(port, typeof bytes === 'string' ? bytes.replace('KEY', service.key) : bytes);
    checkForm(answer, 400);
    expect(answer.headers['connection']).toBe('close');
    expect(answer.answers).toBe(1);
  });

  test('HTTP/1.1 without a Host', async () => {
    checkForm(await sendRaw(port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'), 400);
  });

  test('a target that is neither a path nor an address', async () => {
    for (const target of ['*', 'ftp://x/healthz', 'mailto:x'])
      checkForm(await sendRaw(port, `OPTIONS ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`), 400);
  });
});

describe('odd but valid input works', () => {
  test.each([
    ['an absolute address', 'GET http://any.test/healthz HTTP/1.1'],
    ['an absolute address with a strange host', 'GET http://[::bad/healthz HTTP/1.1'],
    ['an absolute address with an impossible port', 'GET http://x:99999999/healthz HTTP/1.1'],
    ['HTTP/1.0', 'GET /healthz HTTP/1.0'],
    ['a fragment', 'GET /healthz#part HTTP/1.1'],
    ['an upgrade that is not taken', 'GET /healthz HTTP/1.1\r\nUpgrade: websocket'],
    ['a doubled header', 'GET /healthz HTTP/1.1\r\nX-A: 1\r\nX-A: 2'],
  ])('%s', async (_, start) => {
    checkForm(await sendRaw(port, `${start}\r\nHost: x\r\nConnection: close\r\n\r\n`), 200);
  });

  test('Expect: 100-continue is answered before the body, and other expectations are ignored', async () => {
    const body = JSON.stringify({ name: 'expected', template: 'x', model: 'sandbox/echo' });
    for (const expectation of ['100-continue', 'a-miracle']) {
      const start = `POST /v1/prompts HTTP/1.1\r\n${head}Expect: ${expectation}\r\nContent-Type: application/json\r\n`;
      checkForm(await sendRaw(port, `${start}Content-Length: ${body.length}\r\n\r\n`, body), 201);
    }
  });

  test('a chunked body, piece by piece', async () => {
    const body = JSON.stringify({ name: 'chunked', template: 'x', model: 'sandbox/echo' });
    const chunks = body.split('').map((character) => `1\r\n${character}\r\n`);
    const start = `POST /v1/prompts HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    checkForm(await sendRaw(port, start, ...chunks, '0\r\n\r\n'), 201);
  });

  test('requests one after another on a connection', async () => {
    const one = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const { answers } = await sendRaw(port, one, one, `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(answers).toBe(3);
  });
});

test('a truncated body is not processed, and the service continues', async () => {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(
    `POST /v1/prompts HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":"half`,
  );
  socket.end();
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('close', () => resolve(text));
  });
  expect(answer).toMatch(/^(HTTP\/1\.1 400 |$)/);
  expect((await service.call('GET', '/prompts/half')).status).toBe(404);
  expect((await fetch(`${service.origin}/healthz`)).status).toBe(200);
});

test('callers that hang up early do no harm', async () => {
  await Promise.all(
    Array.from(
      { length: 50 },
      () =>
        new Promise<void>((resolve) => {
          const socket = net.connect(port, '127.0.0.1', () => {
            socket.write(`GET /v1/prompts HTTP/1.1\r\n${head}\r\n`, () => socket.resetAndDestroy());
          });
          socket.on('error', () => {});
          socket.on('close', () => resolve());
        }),
    ),
  );
  expect((await service.call('GET', '/prompts')).status).toBe(200);
});

test('a body of 2 MiB is refused with a readable answer', async () => {
  for (const length of ['Content-Length: 2097152', 'Transfer-Encoding: chunked']) {
    const start = `POST /v1/prompts HTTP/1.1\r\n${head}Content-Type: application/json\r\n${length}\r\n\r\n`;
    const body = 'x'.repeat(2 * 1024 * 1024);
    const answer = await sendRaw(port, start, length.startsWith('T') ? `200000\r\n${body}\r\n0\r\n\r\n` : body);
    checkForm(answer, 400);
    expect(JSON.parse(answer.body).error.code).toBe('payload_too_large');
  }
});
