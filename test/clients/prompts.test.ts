import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  ConnectionError,
  NotFoundError,
  UnauthorizedError,
  VariablesError,
} from '../../clients/typescript/src/index.ts';
import { createKey } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';
import { type WatchedClient, watchedClient } from './support.ts';

const TTL_MS = 60_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

let time: number;
let errors: unknown[];
let client: WatchedClient;
beforeEach(() => {
  time = 1_000_000;
  errors = [];
  client = clientOf();
});

const clientOf = (options: { maxEntries?: number; key?: string } = {}) =>
  watchedClient(
    { origin: service.origin, key: options.key ?? service.key },
    { maxRetries: 0, cache: { ...options, now: () => time, onError: (error) => errors.push(error) } },
  );

const create = (name: string, template: string) =>
  service.call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
const label = (name: string, text: string, version: number) =>
  service.call('PUT', `/prompts/${name}/labels/${text}`, { body: { version } });

test('a prompt is read once, and filled locally as the service does', async () => {
  await create('a/tone', 'Be brief.');
  await create('a', '{{> a/tone }} Greet {{ name }}.');
  const prompt = await client.pms.prompts.get('a');
  expect([prompt.name, prompt.version, prompt.model, prompt.variables]).toEqual(['a', 1, 'sandbox/echo', ['name']]);
  expect(prompt.compile({ name: '{{ x }}' })).toBe('Be brief. Greet {{ x }}.');
  expect(prompt.compile({ name: 'Ada' }, [{ role: 'user', content: 'Now.' }])).toEqual([
    { role: 'user', content: 'Be brief. Greet Ada.' },
    { role: 'user', content: 'Now.' },
  ]);
  expect(() => prompt.compile()).toThrow(VariablesError);
  expect(await client.pms.prompts.get('a')).toBe(prompt);
  expect(client.requests).toHaveLength(1);
});

test('simultaneous reads are one request', async () => {
  for (const name of ['b/1', 'b/2', 'b/3']) await create(name, name);
  await label('b/1', 'production', 1);
  const names = ['b/1', 'b/2', 'b/3', 'b/1'];
  const prompts = await Promise.all([
    ...names.map((name) => client.pms.prompts.get(name)),
    client.pms.prompts.get('b/1', { label: 'production' }),
    client.pms.prompts.get('b/1', { version: 1 }),
    client.pms.prompts.get('b/none').catch((error: unknown) => error),
  ]);
  expect(prompts.slice(0, 6).map((prompt) => Object(prompt).name)).toEqual([...names, 'b/1', 'b/1']);
  expect(prompts[6]).toBeInstanceOf(NotFoundError);
  expect(client.requests).toHaveLength(1);
  expect(client.requests[0]?.body.prompts).toEqual([
    { name: 'b/1' },
    { name: 'b/2' },
    { name: 'b/3' },
    { name: 'b/1', label: 'production' },
    { name: 'b/1', version: 1 },
    { name: 'b/none' },
  ]);
});

test('stale prompts are returned at once, and all are refreshed with one request', async () => {
  const names = Array.from({ length: 100 }, (_, index) => `c/${index}`);
  for (const name of names) await create(name, 'one');
  const { prompts } = client.pms;
  await Promise.all(names.map((name) => prompts.get(name)));
  await create('c/7', 'two');
  time += TTL_MS - 1;
  for (const name of names) await prompts.get(name);
  expect(client.requests).toHaveLength(1);

  time += 1;
  expect((await prompts.get('c/7')).version).toBe(1);
  const changed = await until('the new version', async () => {
    const prompt = await prompts.get('c/7');
    return prompt.version === 2 && prompt;
  });
  expect(changed.compile()).toBe('two');
  for (const name of names) await prompts.get(name);
  expect(client.requests).toHaveLength(2);
  expect(client.requests[1]?.body.prompts).toHaveLength(100);
  expect(client.requests[1]?.body.prompts).toContainEqual({ name: 'c/7', known_version: 1 });
  expect(prompts.metrics).toMatchObject({ misses: 100, requests: 2, failures: 0, evictions: 0, size: 100 });
});

test('unused prompts are not refreshed', async () => {
  await create('d/1', 'one');
  await create('d/2', 'one');
  const { prompts } = client.pms;
  await Promise.all([prompts.get('d/1'), prompts.get('d/2')]);
  time += TTL_MS;
  await prompts.get('d/1');
  await until('the request', async () => client.requests.length === 2);
  expect(client.requests[1]?.body.prompts).toEqual([{ name: 'd/1', known_version: 1 }]);
});

test('moved labels and changed includes are seen', async () => {
  await create('e/inner', 'first');
  await create('e', '{{> e/inner }}');
  await label('e', 'production', 1);
  const { prompts } = client.pms;
  const get = () => prompts.get('e', { label: 'production' });
  expect((await get()).compile()).toBe('first');
  await create('e/inner', 'second');
  time += TTL_MS;
  await until('the include', async () => (await get()).compile() === 'second');
  await create('e', 'third');
  await label('e', 'production', 2);
  time += TTL_MS;
  await until('the label', async () => (await get()).compile() === 'third');
});

test('while the service is away, cached prompts are used, and others have their fallback', async () => {
  await create('f', 'one');
  const { prompts } = client.pms;
  await prompts.get('f');
  client.fail = () => true;
  time += 10 * TTL_MS;
  expect((await prompts.get('f')).compile()).toBe('one');
  await until('the failure', async () => errors.length === 1);
  expect(errors[0]).toBeInstanceOf(ConnectionError);
  // It is not requested again immediately.
  await prompts.get('f');
  expect(client.requests).toHaveLength(2);

  const standIn = await prompts.get('f/other', { fallback: 'Hello {{ name }}' });
  expect([standIn.isFallback, standIn.compile({ name: 'Ada' })]).toEqual([true, 'Hello Ada']);
  const messages = [{ role: 'user' as const, content: '{{ q }}' }];
  const chat = await prompts.get('f/other', { fallback: { messages } });
  expect(chat.compile({ q: 'Why?' })).toEqual([{ role: 'user', content: 'Why?' }]);
  await expect(prompts.get('f/other')).rejects.toThrow(ConnectionError);
  expect(prompts.metrics).toMatchObject({ fallbacks: 2, size: 1 });

  await create('f', 'two');
  client.fail = () => false;
  time += TTL_MS;
  await until('the new version', async () => (await prompts.get('f')).compile() === 'two');
});

test('the service really down: nothing listens', async () => {
  const { pms } = watchedClient({ origin: 'http://127.0.0.1:9', key: 'pms_x' }, { maxRetries: 0 });
  await expect(pms.prompts.get('f')).rejects.toMatchObject({ code: 'connection_failed', name: 'ConnectionError' });
  expect((await pms.prompts.get('f', { fallback: 'x' })).compile()).toBe('x');
});

test('a key revoked in between: the cache continues, and reports the reason', async () => {
  await create('g', 'one');
  const { id, key } = await createKey(service, 'read');
  const { prompts } = clientOf({ key }).pms;
  await prompts.get('g');
  await service.call('DELETE', `/api-keys/${id}`);
  time += TTL_MS;
  expect((await prompts.get('g')).version).toBe(1);
  await until('the refusal', async () => errors.length === 1);
  expect(errors[0]).toBeInstanceOf(UnauthorizedError);
  await expect(prompts.get('g/other')).rejects.toThrow(UnauthorizedError);
});

test('deleted prompts leave the cache', async () => {
  await create('h', 'one');
  await label('h', 'canary', 1);
  const { prompts } = client.pms;
  await prompts.get('h', { label: 'canary' });
  await service.call('DELETE', '/prompts/h/labels/canary');
  time += TTL_MS;
  expect((await prompts.get('h', { label: 'canary' })).version).toBe(1);
  await until('the eviction', async () => prompts.metrics.size === 0);
  await expect(prompts.get('h', { label: 'canary' })).rejects.toThrow(NotFoundError);
  expect((await prompts.get('h', { label: 'canary', fallback: 'x' })).isFallback).toBe(true);
});

test('the cache is limited: the least recently used one goes', async () => {
  for (const name of ['i/1', 'i/2', 'i/3']) await create(name, name);
  const small = clientOf({ maxEntries: 2 });
  const { prompts } = small.pms;
  for (const name of ['i/1', 'i/2', 'i/1', 'i/3']) await prompts.get(name);
  expect([prompts.metrics.size, prompts.metrics.evictions]).toEqual([2, 1]);
  await prompts.get('i/1');
  expect(small.requests).toHaveLength(3);
  await prompts.get('i/2');
  expect(small.requests).toHaveLength(4);
});

test('a start from a dump needs no service, and reloads later', async () => {
  await create('j/inner', 'one');
  await create('j', '{{> j/inner }}');
  await client.pms.prompts.get('j');
  const dump = JSON.parse(JSON.stringify(client.pms.prompts.dump()));
  const next = clientOf();
  next.fail = () => true;
  next.pms.prompts.load(dump);
  expect((await next.pms.prompts.get('j')).compile()).toBe('one');
  next.fail = () => false;
  await create('j/inner', 'two');
  time += TTL_MS;
  await until('the new include', async () => (await next.pms.prompts.get('j')).compile() === 'two');
  expect(next.requests.at(-1)?.body.prompts).toEqual([
    { name: 'j', known_version: 1, known_includes: dump.prompts[0].hash },
  ]);
});

test('ttlMs: 0 reads from the service and waits', async () => {
  await create('k', 'one');
  const get = () => client.pms.prompts.get('k', { ttlMs: 0 });
  expect((await get()).version).toBe(1);
  await create('k', 'two');
  expect((await get()).version).toBe(2);
});
