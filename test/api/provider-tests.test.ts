import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

let list: { status: number; body: string };
let answering: Promise<void> | undefined;
let asked: IncomingMessage[];
let server: Server;
let service: TestService;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    asked.push(request);
    await answering;
    response.writeHead(list.status, { 'content-type': 'application/json' }).end(list.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const at = `http://127.0.0.1:${port}/v1`;
  service = await startTestService(
    {
      OPENAI_API_KEY: 'sk-secret-of-openai',
      OPENAI_BASE_URL: at,
      ANTHROPIC_API_KEY: 'sk-secret-of-anthropic',
      ANTHROPIC_BASE_URL: at,
      GOOGLE_GENERATIVE_AI_API_KEY: 'secret-of-google',
      GOOGLE_GENERATIVE_AI_BASE_URL: at,
      // Nothing listens there.
      OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    },
    { workers: false },
  );
});
beforeEach(() => {
  list = { status: 200, body: '{"data":[{"id":"a"},{"id":"b"}]}' };
  asked = [];
});
afterAll(async () => {
  await service?.stop();
  server?.close();
});
const run = (name: string, key?: string) =>
  service.call('POST', `/providers/${name}/test`, key === undefined ? {} : { key });

test.each([
  ['openai', 'authorization', 'Bearer sk-secret-of-openai'],
  ['anthropic', 'x-api-key', 'sk-secret-of-anthropic'],
  ['google', 'x-goog-api-key', 'secret-of-google'],
])('a test asks %s for its models with its key, and nothing that costs', async (name, header, value) => {
  const { status, body } = await run(name);
  expect([status, body]).toEqual([
    200,
    { provider: name, ok: true, latency_ms: expect.any(Number), models: 2, error: null },
  ]);
  expect(asked.map(({ method, url, headers }) => [method, url, headers[header]])).toEqual([
    ['GET', '/v1/models', value],
  ]);
  expect((await service.call('GET', '/usage')).body.data).toEqual([]);
});

test('a test reports the error of the provider, without the key', async () => {
  list = { status: 401, body: '{"error":{"message":"Incorrect API key provided: sk-secret-of-openai."}}' };
  const { status, body } = await run('openai');
  expect([status, body.ok, body.models, body.error.code]).toEqual([200, false, null, 'model_authentication']);
  expect(body.error.message).toContain('Incorrect API key provided');
  expect(JSON.stringify(body)).not.toContain('sk-secret');
});

test('a test accepts a response without a list as a working connection', async () => {
  list = { status: 200, body: 'hello' };
  expect((await run('openai')).body).toMatchObject({ ok: true, models: null });
});

test('a test reports missing settings, and no response', async () => {
  expect((await run('mistral')).body.error).toEqual({
    code: 'model_authentication',
    message: 'no credentials for mistral; set MISTRAL_API_KEY',
  });
  const { body } = await run('openai-compatible');
  expect([body.ok, body.error.code]).toEqual([false, 'model_unavailable']);
  expect(body.error.message).toContain('connection to the provider failed');
  expect((await run('sandbox')).body).toMatchObject({ ok: true, error: null });
  expect((await run('nobody')).status).toBe(404);
  expect(asked).toEqual([]);
});

test('simultaneous tests are one: all tenants use one key', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  answering = promise;
  const { models } = service.dependencies;
  const tests = Array.from({ length: 50 }, () => models.test('openai'));
  await until('the request', async () => asked.length > 0);
  tests.push(models.test('openai'));
  resolve();
  answering = undefined;
  for (const test of await Promise.all(tests)) expect(test).toMatchObject({ models: 2 });
  expect(asked).toHaveLength(1);
  await run('openai');
  expect(asked).toHaveLength(2);
});
