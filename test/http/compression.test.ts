import http from 'node:http';
import { Socket } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import Koa from 'koa';
import { FixedText } from '../../src/http/compression.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
  for (let n = 0; n < 20; n += 1)
    await service.call('POST', '/prompts', {
      body: { name: `p/${n}`, template: 'Summarise the letter. '.repeat(100), model: 'sandbox/echo' },
    });
});
afterAll(() => service?.stop());

/** Without decompression: `fetch` would undo it. */
function get(path: string, encoding: string | undefined, method = 'GET') {
  return new Promise<{ headers: http.IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${service.key}`, ...(encoding && { 'Accept-Encoding': encoding }) };
    const request = http.request(`${service.origin}${path}`, { method, headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ headers: response.headers, bytes: Buffer.concat(chunks) });
    });
    request.once('error', reject).end();
  });
}

test.each([
  ['br', 'gzip, deflate, br', brotliDecompressSync],
  ['gzip', 'gzip', gunzipSync],
  ['gzip', 'br;q=0.1, gzip;q=0.9', gunzipSync],
] as const)('a long response is sent as %s, given %s', async (encoding, accepted, undo) => {
  const plain = await get('/v1/prompts', undefined);
  expect(plain.headers['content-encoding']).toBeUndefined();
  const { headers, bytes } = await get('/v1/prompts', accepted);
  expect(headers['content-encoding']).toBe(encoding);
  expect(headers['content-length']).toBe(String(bytes.length));
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect(headers.vary).toContain('Accept-Encoding');
  expect(bytes.length).toBeLessThan(plain.bytes.length / 5);
  expect(undo(bytes)).toEqual(plain.bytes);
});

test('the OpenAPI document is, too', async () => {
  const { headers, bytes } = await get('/openapi.json', 'br');
  expect(headers['content-encoding']).toBe('br');
  expect(JSON.parse(brotliDecompressSync(bytes).toString())).toHaveProperty('openapi');
});

test.each([
  ['who accepts none', '/v1/prompts', 'identity'],
  ['who accepts another one', '/v1/prompts', 'zstd'],
])('it is uncompressed for %s', async (_, path, accepted) => {
  const { headers, bytes } = await get(path, accepted);
  expect(headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(bytes.toString()).data).toHaveLength(20);
});

test('a short response and one to a change, which may show a secret, are uncompressed', async () => {
  expect((await get('/v1/prompts/p/1/versions?limit=1', 'br')).headers['content-encoding']).toBeUndefined();
  const answer = await fetch(`${service.origin}/v1/prompts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json', 'Accept-Encoding': 'br' },
    body: JSON.stringify({ name: 'long', template: 'x'.repeat(50_000), model: 'sandbox/echo' }),
  });
  expect([answer.status, answer.headers.get('Content-Encoding')]).toEqual([201, null]);
});

test('a text that is the same for all is compressed once for each encoding, even simultaneously', async () => {
  const text = new FixedText('Summarise the letter. '.repeat(1_000));
  const app = new Koa();
  const send = async (accepted: string) => {
    const request = new http.IncomingMessage(new Socket());
    request.method = 'GET';
    request.headers['accept-encoding'] = accepted;
    const ctx = app.createContext(request, new http.ServerResponse(request));
    await text.send(ctx);
    return ctx.body;
  };
  const [first, second] = await Promise.all([send('br'), send('br')]);
  expect(first).toBeInstanceOf(Buffer);
  expect(second).toBe(first);
  expect(await send('br')).toBe(first);
  const zipped = await send('gzip');
  expect(zipped).not.toBe(first);
  expect(await send('gzip')).toBe(zipped);
});
