import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import {
  type Api,
  ConnectionError,
  InsufficientScopeError,
  InvalidRequestError,
  NotFoundError,
  PromptArchivedError,
  RateLimitedError,
  ServiceError,
  VersionConflictError,
} from '../../clients/typescript/src/index.ts';
import { createPatience } from '../../clients/typescript/src/transport.ts';
import { createKey } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { watchedClient } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const prompt = (name: string) => ({ name, template: 'Greet {{ name }}.', model: 'sandbox/echo' });

test('operations are called by their names', async () => {
  const { pms } = watchedClient(service);
  const created = await pms.call('createPrompt', { body: prompt('a/greeting') });
  expect([created.name, created.version]).toEqual(['a/greeting', 1]);
  const read = await pms.call('getPrompt', { path: { name: 'a/greeting' }, query: { version: 1 } });
  expect(read).toEqual(created);
  const execution = await pms.execute({ prompt_name: 'a/greeting', variables: { name: 'Ada' } });
  expect([execution.status, execution.output]).toEqual(['completed', 'Greet Ada.']);
});

test('a list in a query becomes a parameter for each item', async () => {
  const { pms } = watchedClient(service);
  await pms.call('createPrompt', { body: prompt('a/scored') });
  const { id } = await pms.execute({ prompt_name: 'a/scored', variables: { name: 'Ada' } });
  const subject = { execution_id: id };
  const scores = [
    { name: 'helpful', value: 0.2, subject },
    { name: 'topic', value: 'billing', subject },
  ];
  await pms.call('createScores', { body: { scores } });
  const found = async (...score: string[]) => (await pms.call('listExecutions', { query: { score } })).data;
  expect(await found('helpful<0.5', 'topic=billing')).toEqual([expect.objectContaining({ id })]);
  expect(await found('helpful<0.5', 'topic=other')).toEqual([]);
});

test('datasets are transferred unchanged', async () => {
  const { pms } = watchedClient(service);
  const lines = '{"id":"1","variables":{"name":"Ada"}}\n';
  const path = { name: 'a/names' };
  const dataset = await pms.upload('uploadDataset', { path, body: lines }, 'application/x-ndjson');
  expect(dataset.version).toBe(1);
  const stream = ReadableStream.from([new TextEncoder().encode(lines)]);
  expect((await pms.upload('uploadDataset', { path, body: stream }, 'application/x-ndjson')).version).toBe(2);
  const exported = await new Response(await pms.download('exportDataset', { path })).text();
  expect(JSON.parse(exported)).toMatchObject({ id: '1', variables: { name: 'Ada' } });
});

test('a list is read page by page', async () => {
  const { pms, requests } = watchedClient(service);
  for (let index = 0; index < 5; index++) await pms.call('createPrompt', { body: prompt(`list/${index}`) });
  requests.length = 0;
  const names: string[] = [];
  for await (const { name } of pms.list('listPrompts', { query: { group: 'list', limit: 2 } })) names.push(name);
  expect(names).toEqual(['list/0', 'list/1', 'list/2', 'list/3', 'list/4']);
  expect(requests).toHaveLength(3);
  for await (const { version } of pms.list('listPromptVersions', { path: { name: 'list/0' } })) expect(version).toBe(1);
});

test('errors are classes, distinguished by code', async () => {
  const { pms } = watchedClient(service);
  const draft: Api.CreatePrompt = { ...prompt('errors'), template: '{{> none }}' };
  await expect(pms.call('createPrompt', { body: draft })).rejects.toMatchObject({
    name: 'InvalidRequestError',
    code: 'invalid_request',
    status: 400,
    details: [{ path: 'template' }],
    requestId: expect.stringMatching(/^req_/),
  });
  await expect(pms.call('createPrompt', { body: draft })).rejects.toThrow(InvalidRequestError);
  await expect(pms.call('getPrompt', { path: { name: 'none' } })).rejects.toThrow(NotFoundError);
  await pms.call('createPrompt', { body: prompt('archived') });
  await pms.call('archivePrompt', { path: { name: 'archived' } });
  await expect(pms.execute({ prompt_name: 'archived' })).rejects.toThrow(PromptArchivedError);
  await expect(pms.call('createPrompt', { body: { ...prompt('conflict'), base_version: 0 } })).resolves.toMatchObject({
    version: 1,
  });
  const update = { template: 'x', base_version: 1 };
  await pms.call('updatePrompt', { path: { name: 'conflict' }, body: update });
  await expect(pms.call('updatePrompt', { path: { name: 'conflict' }, body: update })).rejects.toThrow(
    VersionConflictError,
  );
  const { key } = await createKey(service, 'read');
  const reader = watchedClient({ origin: service.origin, key });
  await expect(reader.pms.call('createPrompt', { body: prompt('x') })).rejects.toThrow(InsufficientScopeError);
});

test('a run whose response was lost is requested again, and created once', async () => {
  const client = watchedClient(service);
  await client.pms.call('createPrompt', { body: prompt('lost') });
  client.requests.length = 0;
  client.fail = () => client.requests.length === 1;
  const execution = await client.pms.execute({ prompt_name: 'lost', variables: { name: 'Ada' } });
  expect(execution.status).toBe('completed');
  const keys = client.requests.map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys).toEqual([keys[0], keys[0]]);
  const { body } = await service.call('GET', '/executions?prompt_name=lost');
  expect(body.data).toHaveLength(1);
});

test('unsafe requests are not repeated', async () => {
  const client = watchedClient(service);
  await client.pms.call('createPrompt', { body: prompt('once') });
  client.requests.length = 0;
  client.fail = () => true;
  const update = client.pms.call('updatePrompt', { path: { name: 'once' }, body: { template: 'x' } });
  await expect(update).rejects.toMatchObject({ code: 'connection_failed' });
  expect(client.requests).toHaveLength(1);
});

test('Retry-After is respected, and a pause that is too long ends it', async () => {
  const client = watchedClient(service);
  const limited = (seconds: number, code = 'rate_limited', status = 429) =>
    Response.json({ error: { code, message: 'Later.' } }, { status, headers: { 'Retry-After': String(seconds) } });
  client.fail = () => (client.requests.length === 1 ? limited(1) : false);
  const began = performance.now();
  await client.pms.call('listPrompts', {});
  expect(performance.now() - began).toBeGreaterThanOrEqual(990);
  expect(client.requests).toHaveLength(2);

  client.requests.length = 0;
  client.fail = () => limited(3_600);
  await expect(client.pms.call('listPrompts', {})).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  await expect(client.pms.call('listPrompts', {})).rejects.toThrow(RateLimitedError);
  expect(client.requests).toHaveLength(2);

  client.requests.length = 0;
  client.fail = () => (client.requests.length < 3 ? limited(0, 'temporarily_unavailable', 500) : false);
  await client.pms.call('listPrompts', {});
  expect(client.requests).toHaveLength(3);
  client.fail = () => new Response('<html>Bad gateway</html>', { status: 502 });
  await expect(client.pms.call('listPrompts', {}, { maxRetries: 1 })).rejects.toThrow(ServiceError);
});

test('a caller who gives up gets the reason', async () => {
  const { pms } = watchedClient(service);
  const gone = AbortSignal.abort(new Error('enough'));
  await expect(pms.call('listPrompts', {}, { signal: gone })).rejects.toThrow('enough');
  const { pms: slow } = watchedClient(service, {
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  });
  await expect(slow.call('listPrompts', {}, { timeoutMs: 20, maxRetries: 0 })).rejects.toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('no response within 20 ms'),
  });
});

test('an unreachable service is retried for two minutes, or as long as configured', async () => {
  const pauses: number[] = [];
  const { pms } = watchedClient(service, {
    fetch: () => Promise.reject(new TypeError('fetch failed')),
    retryForMs: 400,
    onRetry: (error, pauseMs) => {
      expect(error).toBeInstanceOf(ConnectionError);
      pauses.push(pauseMs);
    },
  });
  await expect(pms.call('listPrompts', {})).rejects.toThrow(ConnectionError);
  expect(pauses.length).toBeGreaterThan(0);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(400);
  pauses.length = 0;
  await expect(pms.call('listPrompts', {}, { retryForMs: 0 })).rejects.toThrow(ConnectionError);
  await expect(pms.call('listPrompts', {}, { maxRetries: 0 })).rejects.toThrow(ConnectionError);
  expect(pauses).toEqual([]);

  jest.useFakeTimers();
  try {
    const patience = createPatience({});
    let waitedMs = 0;
    for (let pauseMs = 0; ; waitedMs += pauseMs) {
      pauseMs = patience.pauseAfter(new ConnectionError('connection_failed', 'away')) ?? 0;
      if (pauseMs === 0) break;
      jest.advanceTimersByTime(pauseMs);
    }
    // Pauses have fractions.
    expect(Math.abs(waitedMs - 120_000)).toBeLessThan(5);
  } finally {
    jest.useRealTimers();
  }
});

test('https to a service without TLS is explained', async () => {
  const { pms } = watchedClient(service, { baseUrl: service.origin.replace('http:', 'https:'), maxRetries: 0, fetch });
  await expect(pms.me.get()).rejects.toMatchObject({
    message: expect.stringMatching(/the server does not speak TLS at this address: use http:\/\/ in the baseUrl$/),
  });
});

test('an unsent request is repeated, even if twice would be too often', async () => {
  const client = watchedClient(service, { retryForMs: 1 });
  await client.pms.call('createPrompt', { body: prompt('unsent') });
  const refused = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
  let isRefused = true;
  const { pms } = watchedClient(service, {
    fetch: (url, init) => {
      if (!isRefused) return fetch(url, init);
      isRefused = false;
      return Promise.reject(refused);
    },
  });
  const updated = await pms.call('updatePrompt', { path: { name: 'unsent' }, body: { template: 'x' } });
  expect(updated.version).toBe(2);
});

test('errors have the key, and the execution as soon as it is known', async () => {
  const client = watchedClient(service, { maxRetries: 0 });
  await client.pms.call('createPrompt', { body: prompt('traced') });
  client.requests.length = 0;
  client.fail = () => true;
  const error = await client.pms.execute({ prompt_name: 'traced' }).catch((reason: unknown) => reason);
  const key = client.requests[0]?.headers.get('Idempotency-Key');
  expect(key).toMatch(/./);
  expect(error).toMatchObject({ code: 'connection_failed', idempotencyKey: key, executionId: undefined });

  const id = 'exec_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11';
  client.fail = ({ method }) => method === 'GET' || Response.json({ id, status: 'running' }, { status: 201 });
  const run = client.pms.execute({ prompt_name: 'traced' }, { idempotencyKey: 'mine' });
  await expect(run).rejects.toMatchObject({ idempotencyKey: 'mine', executionId: id });
});

test('a page is not a service response', async () => {
  const client = watchedClient(service);
  client.fail = () => new Response('<html></html>', { headers: { 'Content-Type': 'text/html; charset=utf-8' } });
  await expect(client.pms.call('listPrompts', {})).rejects.toMatchObject({ code: 'unexpected_response', status: 200 });
  expect(client.requests).toHaveLength(1);
});
