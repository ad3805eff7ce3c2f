import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Api, NotFoundError, Pms, WaitTimeoutError } from '../../clients/typescript/src/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { watchedClient } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const readJson = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const prompt = (name: string) => ({ name, template: 'Greet {{ name }}.', model: 'sandbox/echo' });

test('every operation of openapi.json has a method, by its name in clients/methods.json', () => {
  const paths: Record<string, Record<string, { operationId: string }>> = readJson('openapi.json').paths;
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  const names: Record<string, string> = readJson('clients/methods.json');
  expect(Object.keys(names).toSorted()).toEqual(ids.toSorted());
  expect(new Set(Object.values(names)).size).toBe(ids.length);
  const { pms } = watchedClient(service);
  const missing = Object.values(names).filter((name) => {
    const steps = camelCase(name).split('.');
    return typeof steps.reduce<unknown>((at, step) => Object(at)[step], pms) !== 'function';
  });
  expect(missing).toEqual([]);
});

test('methods take the parameters of the path, the body and the query, in this order', async () => {
  const { pms, requests } = watchedClient(service);
  const created = await pms.prompts.create(prompt('r/greeting'));
  expect([created.name, created.version]).toEqual(['r/greeting', 1]);
  await pms.prompts.update('r/greeting', { template: 'Welcome {{ name }}.' });
  expect((await pms.prompts.setLabel('r/greeting', 'production', { version: 1 })).labels).toEqual(['production']);
  expect((await pms.prompts.fetch('r/greeting', { label: 'production' })).version).toBe(1);
  expect((await pms.prompts.get('r/greeting', { label: 'production' })).compile({ name: 'Ada' })).toBe('Greet Ada.');
  expect(await pms.prompts.diff('r/greeting', { from: 1, to: 2 })).toMatchObject({ from: 1, to: 2 });
  const usage = await pms.usage({ group_by: 'prompt', since: new Date(Date.now() - 3_600_000) });
  expect(usage.data).toEqual([]);
  const sent = requests.map(({ method, path }) => `${method} ${path.replace(/since=[^&]+/, 'since=…')}`);
  expect(sent).toEqual([
    'POST /prompts',
    'PUT /prompts/r%2Fgreeting',
    'PUT /prompts/r%2Fgreeting/labels/production',
    'GET /prompts/r%2Fgreeting?label=production',
    'POST /prompts/resolve',
    'GET /prompts/r%2Fgreeting/diff?from=1&to=2',
    'GET /usage?group_by=prompt&since=…',
  ]);
});

test('lists are read entry by entry, page by page, or with the response of the first page', async () => {
  const { pms, requests } = watchedClient(service);
  for (const name of ['l/a', 'l/b', 'l/c']) await pms.prompts.create(prompt(name));
  requests.length = 0;
  const list = pms.prompts.list({ group: 'l', limit: 2 });
  const names: string[] = [];
  for await (const { name } of list) names.push(name);
  expect(names).toEqual(['l/a', 'l/b', 'l/c']);
  expect(requests).toHaveLength(2);
  const pages: string[][] = [];
  for await (const { data } of list.pages()) pages.push(data.map(({ name }) => name));
  expect(pages).toEqual([['l/a', 'l/b'], ['l/c']]);
  const { data, response } = await list.withResponse();
  expect([data.data.length, response.status]).toEqual([2, 200]);
  expect(data.next_cursor).not.toBeNull();
});

test('an answer has its response, whose request the service logs', async () => {
  const { pms } = watchedClient(service);
  const { data, response, requestId } = await pms.prompts.create(prompt('w/greeting')).withResponse();
  expect([data.name, response.status]).toEqual(['w/greeting', 201]);
  expect(requestId).toBe(response.headers.get('X-Request-Id'));
  expect(requestId).toMatch(/\S/);
  const missing = pms.executions.get('exec_00000000-0000-7000-8000-000000000000').withResponse();
  await expect(missing).rejects.toThrow(NotFoundError);
});

test('options of calls apply to methods: retries with one key, limits, signals, headers', async () => {
  const watched = watchedClient(service);
  const { pms, requests } = watched;
  watched.fail = () => requests.length < 2;
  await pms.prompts.create(prompt('k/greeting'));
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys).toEqual([expect.stringMatching(/\S/), keys[0]]);
  await pms.prompts.create(prompt('k/greeting'), { idempotencyKey: 'mine', headers: { 'X-Own': '1' } });
  expect(requests.at(-1)?.headers.get('Idempotency-Key')).toBe('mine');
  expect(requests.at(-1)?.headers.get('X-Own')).toBe('1');
  watched.fail = () => true;
  requests.length = 0;
  await expect(pms.schedules.get('sched_1', { maxRetries: 0 })).rejects.toMatchObject({ code: 'connection_failed' });
  expect(requests).toHaveLength(1);
  watched.fail = () => false;
  await expect(pms.schedules.get('sched_1', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow(
    'enough',
  );
  await expect(pms.schedules.get('')).rejects.toThrow('needs a id');
});

test('the stream of an improvement', async () => {
  const { pms } = watchedClient(service);
  await pms.prompts.create({ ...prompt('i/echo'), template: 'Say {{ word }}.', model: 'sandbox/echo' });
  const words = Array.from({ length: 150 }, (_, index) => `word ${index},no\n`);
  await pms.datasets.upload('i/words', `word,expected\n${words.join('')}`, { format: 'csv' });
  const { id } = await pms.improvements.create({
    prompt_name: 'i/echo',
    dataset: 'i/words',
    evaluators: [{ type: 'exact_match' }],
    reflection: { model: 'sandbox/echo' },
    max_cost: null,
  });
  await pms.improvements.cancel(id);
  const seen: string[] = [];
  for await (const event of pms.improvements.stream(id)) seen.push(`${event.type} ${event.improvement.status}`);
  expect(seen).toEqual(['improvement.canceled canceled']);
});

test('datasets, evaluations and their streams', async () => {
  const { pms } = watchedClient(service);
  await pms.prompts.create({
    ...prompt('e/capital'),
    template: 'What is the capital of {{ country }}?',
    model: 'sandbox/fixed',
  });
  const examples = [{ id: 'fr', variables: { country: 'France' }, expected: 'Paris' }];
  const dataset = await pms.datasets.upload('e/capitals', examples, { description: 'Capitals.' });
  expect([dataset.version, dataset.description, dataset.examples_total]).toEqual([1, 'Capitals.', 1]);
  expect((await pms.datasets.upload('e/capitals', 'country,expected\nFrance,Paris\n', { format: 'csv' })).version).toBe(
    2,
  );
  expect(JSON.parse(await pms.datasets.export('e/capitals', { version: 1 }))).toMatchObject({ id: 'fr' });
  const { id } = await pms.evaluations.create({
    prompt_name: 'e/capital',
    dataset: 'e/capitals',
    evaluators: [{ type: 'exact_match' }],
  });
  const seen: string[] = [];
  for await (const event of pms.evaluations.stream(id)) {
    seen.push(event.type);
    expect(event.evaluation.id).toBe(id);
  }
  expect(seen.at(-1)).toBe('evaluation.completed');
  const ended = await pms.evaluations.wait(id, { intervalMs: 10 });
  expect([ended.status, ended.score]).toEqual(['completed', 1]);
  const results: Api.EvaluationResult[] = [];
  for await (const result of pms.evaluations.results(id, { failed: false })) results.push(result);
  expect(results.map(({ score }) => score)).toEqual([1]);
  const late = await pms.evaluations.create({
    prompt_name: 'e/capital',
    dataset: 'e/capitals',
    evaluators: [{ type: 'exact_match' }],
    start_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  await expect(pms.evaluations.wait(late.id, { waitMs: 0 })).rejects.toThrow(WaitTimeoutError);
});

test('executions are streamed as typed events, and scored', async () => {
  const { pms } = watchedClient(service);
  await pms.prompts.create(prompt('s/greeting'));
  let text = '';
  let id = '';
  for await (const event of pms.executions.stream({ prompt_name: 's/greeting', variables: { name: 'Ada' } })) {
    if (event.type === 'execution.started') id = event.execution.id;
    if (event.type === 'output_text.delta') text += event.delta;
  }
  expect(text).toBe('Greet Ada.');
  const types: string[] = [];
  for await (const { type } of pms.executions.streamOf(id)) types.push(type);
  expect(types.at(-1)).toBe('execution.completed');
  const subject = { execution_id: id };
  await pms.scores.create({ name: 'helpful', value: 0.5, subject });
  const { data } = await pms.scores.createMany([
    { name: 'helpful', value: 0.7, subject },
    { name: 'polite', value: true, subject },
  ]);
  expect(data).toHaveLength(2);
  const scores: string[] = [];
  for await (const { name } of pms.scores.list({ execution_id: id })) scores.push(name);
  expect(scores.toSorted()).toEqual(['helpful', 'helpful', 'polite']);
});

test('the environment sets the address of the service and the key', async () => {
  const { PMS_BASE_URL: url, PMS_API_KEY: key } = process.env;
  try {
    delete process.env['PMS_BASE_URL'];
    delete process.env['PMS_API_KEY'];
    expect(() => new Pms()).toThrow('PMS_BASE_URL');
    expect(() => new Pms({ baseUrl: service.origin })).toThrow('PMS_API_KEY');
    process.env['PMS_BASE_URL'] = service.origin;
    process.env['PMS_API_KEY'] = service.key;
    expect((await new Pms().keys.current()).scopes).toContain('read');
    await expect(new Pms({ apiKey: 'pms_wrong' }).keys.current()).rejects.toMatchObject({ code: 'unauthorized' });
  } finally {
    for (const [name, value] of [
      ['PMS_BASE_URL', url],
      ['PMS_API_KEY', key],
    ] as const)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
});
