import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type PmsError, QuotaExceededError, type Run } from '../../clients/typescript/src/index.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/wait-for.ts';
import { watchedClient } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

const run = (model: string, more: Partial<Run> = {}): Run => ({
  model: `house/${model}`,
  input: 'Say hello.',
  output: 'Hello!',
  tokens: { input: 10, output: 5 },
  started_at: new Date(Date.now() - 1_000),
  finished_at: new Date(),
  ...more,
});
const outputsOf = async (model: string) => {
  const { body } = await service.call('GET', `/executions?model=house/${model}&limit=100`);
  return body.data.map(({ output }: { output: string }) => output).toSorted();
};

/** A client that records what it drops. */
function recorder(options: object = {}) {
  const dropped: { runs: Run[]; error: PmsError }[] = [];
  const onDrop = (runs: Run[], error: PmsError) => dropped.push({ runs, error });
  return Object.assign(watchedClient(service, { record: { onDrop, ...options } }), { dropped });
}

test('runs are sent together, and the id leads to the execution', async () => {
  const { pms, requests, dropped } = recorder();
  const ids = Array.from({ length: 20 }, (_, index) => pms.record(run('together', { output: `${index}` })));
  expect(requests).toEqual([]);
  await pms.flush();
  expect(requests).toHaveLength(1);
  expect(requests[0]?.headers.has('Idempotency-Key')).toBe(false);
  expect(await pms.call('getExecution', { path: { id: ids[7] ?? '' } })).toMatchObject({ output: '7', recorded: true });
  expect(new Set(ids).size).toBe(20);
  expect(dropped).toEqual([]);
  expect(pms.record(run('together', { id: 'mine' }))).toBe('mine');
  await pms.close();
});

test('they are sent automatically after a while, or in large numbers', async () => {
  const later = recorder({ flushAfterMs: 10 });
  later.pms.record(run('by-time'));
  await until('the run', async () => (await outputsOf('by-time')).length === 1);
  const many = recorder({ flushAfterMs: 3_600_000 });
  for (let index = 0; index < 500; index += 1) many.pms.record(run('by-size'));
  await until('a batch', async () => (await outputsOf('by-size')).length === 100);
  await many.pms.flush();
});

test('calls made with a prompt count for its version and release', async () => {
  const { pms } = recorder();
  const body = { name: 'recorded', template: 'Say {{ what }}.', model: 'sandbox/echo' };
  await pms.call('createPrompt', { body });
  const prompt = await pms.prompts.get('recorded');
  const about = { prompt_name: prompt.name, prompt_version: prompt.version, release: prompt.release ?? null };
  const id = pms.record(
    run('prompt', { ...about, variables: { what: 'hello' }, input: prompt.compile({ what: 'hello' }) }),
  );
  await pms.flush();
  expect(await pms.call('getExecution', { path: { id } })).toMatchObject({
    prompt_name: 'recorded',
    prompt_version: 1,
  });
});

test('invalid runs in a batch are dropped and reported, and others recorded', async () => {
  const { pms, dropped } = recorder();
  for (let index = 0; index < 60; index += 1)
    pms.record(run('mixed', { output: `${index}`, ...(index % 2 === 1 && { prompt_name: 'no-such-prompt' }) }));
  pms.record(run('mixed', { variables: { text: 'x'.repeat(1024 * 1024) } }));
  await pms.flush();
  expect(await outputsOf('mixed')).toHaveLength(30);
  expect(dropped.flatMap(({ runs }) => runs)).toHaveLength(31);
  expect(dropped[0]?.error).toMatchObject({ code: 'invalid_request', status: 400 });
  expect(dropped[0]?.error.message).toContain('prompt_name');
});

test('it never throws: neither for non-JSON values, nor for errors of onDrop', async () => {
  const { pms, dropped } = recorder();
  const circle: Record<string, unknown> = {};
  circle['circle'] = circle;
  pms.record(run('circle', { variables: circle }));
  pms.record(run('circle', { started_at: 'yesterday' }));
  await pms.flush();
  expect(dropped.map(({ error }) => error.code)).toEqual(['invalid_run', 'invalid_request']);
  const clumsy = recorder({
    onDrop: () => {
      throw new Error('clumsy');
    },
  });
  clumsy.pms.record(run('circle', { variables: circle }));
  clumsy.pms.record(run('circle', { prompt_name: 'no-such-prompt' }));
  clumsy.pms.record(run('circle', { output: 'kept' }));
  await clumsy.pms.flush();
  expect(await outputsOf('circle')).toEqual(['kept']);
});

test('a full queue drops new runs, by number and by bytes, and reports it', async () => {
  for (const options of [{ maxRuns: 5 }, { maxBytes: 1_500 }]) {
    const { pms, dropped } = recorder(options);
    for (let index = 0; index < 20; index += 1) pms.record(run(`full-${Object.keys(options)[0]}`));
    await pms.flush();
    const stored = (await outputsOf(`full-${Object.keys(options)[0]}`)).length;
    expect(stored).toBeGreaterThan(3);
    expect(stored + dropped.length).toBe(20);
    expect(dropped[0]?.error.code).toBe('queue_full');
    pms.record(run('full-again'));
    await pms.flush();
    expect(dropped).toHaveLength(20 - stored);
  }
});

test('temporary failures are sent again', async () => {
  const client = recorder();
  let requests = 0;
  const lost = new Response(JSON.stringify({ error: { code: 'internal_error', message: 'lost' } }), { status: 500 });
  client.fail = () => {
    requests += 1;
    return requests === 1 ? lost : requests === 2;
  };
  for (let index = 0; index < 10; index += 1) client.pms.record(run('outage', { output: `${index}` }));
  await client.pms.flush();
  expect(requests).toBe(3);
  expect(client.dropped).toEqual([]);
  expect(await outputsOf('outage')).toHaveLength(10);
});

test('runs refused for good are dropped, with the reason', async () => {
  const client = recorder();
  client.fail = () =>
    new Response(JSON.stringify({ error: { code: 'quota_exceeded', message: 'full' } }), { status: 429 });
  client.pms.record(run('refused'));
  client.pms.record(run('refused'));
  await client.pms.flush();
  expect(client.dropped).toEqual([
    { runs: [expect.anything(), expect.anything()], error: expect.any(QuotaExceededError) },
  ]);
});
