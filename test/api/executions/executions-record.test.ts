import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Big } from 'big.js';
import { v4, v7 } from 'uuid';
import { sumUpPromptDays } from '../../../src/jobs/sum-up-prompt-days.ts';
import { sumUpReleases } from '../../../src/services/releases/sum-up-releases.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { seedPrompt, startRelease, untilRelease } from '../releases/releases-support.ts';
import { createOtherWorkspace } from '../workspace.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ QUOTA_EXECUTION_BYTES: '4MiB' });
  await seedPrompt(service.call, 'recorded/prompt');
});
afterAll(() => service?.stop());

const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
const ago = (ms: number) => new Date(Date.now() - ms);
/** A run that started some time ago and took a second. */
const run = (more: object = {}, startedAt = ago(5 * SECOND_MS)) => ({
  model: 'openai/gpt-4o-mini',
  input: 'Say hello.',
  output: 'Hello!',
  tokens: { input: 1_000, output: 500 },
  started_at: startedAt.toISOString(),
  finished_at: new Date(startedAt.getTime() + SECOND_MS).toISOString(),
  ...more,
});
const record = (records: unknown, options: { key?: string; headers?: Record<string, string> } = {}) =>
  service.call('POST', '/executions/record', { body: { records }, ...options });
const recorded = async (...records: object[]): Promise<string[]> => {
  const { status, body } = await record(records);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.ids;
};
const get = async (id: string) => (await service.call('GET', `/executions/${id}`)).body;
const execId = (startedAt: Date) => `exec_${v7({ msecs: startedAt.getTime() })}`;

describe('a recorded run', () => {
  test('is an ended execution, marked as recorded, and sends no webhook events', async () => {
    const started = ago(60 * SECOND_MS);
    const given = run(
      {
        prompt_name: 'recorded/prompt',
        prompt_version: 2,
        variables: { q: 'hi' },
        tokens: { input: 1_000, output: 500, cached_input: 200, reasoning: 100 },
        metadata: { customer: 'acme' },
      },
      started,
    );
    const [id = ''] = await recorded(given);
    const execution = await get(id);
    expect(execution).toMatchObject({
      id,
      status: 'completed',
      recorded: true,
      prompt_name: 'recorded/prompt',
      prompt_version: 2,
      model: 'openai/gpt-4o-mini',
      requested_model: 'openai/gpt-4o-mini',
      provider: 'openai',
      variables: { q: 'hi' },
      input: 'Say hello.',
      output: 'Hello!',
      tool_calls: [],
      tokens: { input: 1_000, output: 500, cached_input: 200, reasoning: 100, total: 1_500 },
      latency: { queue_ms: 0, model_ms: 1_000, total_ms: 1_000 },
      attempts: 1,
      error: null,
      release: null,
      workflow_id: null,
      metadata: { customer: 'acme' },
      created_at: given.started_at,
      started_at: given.started_at,
      finished_at: given.finished_at,
    });
    expect(execution.cost.pricing.source).toContain('genai-prices');
    const { input_per_million, cached_input_per_million, output_per_million } = execution.cost.pricing;
    const dollars = new Big(input_per_million)
      .times(800)
      .plus(new Big(cached_input_per_million).times(200))
      .plus(new Big(output_per_million).times(500))
      .div(1e6);
    expect(execution.cost.amount).toBe(dollars.toFixed());
    expect(execution.calls).toEqual([
      expect.objectContaining({ duration_ms: 1_000, cost: { amount: dollars.toFixed(), currency: 'USD' } }),
    ]);
    const events = await service.call('GET', '/events?limit=100');
    expect(JSON.stringify(events.body)).not.toContain(id);
  });

  test('can have messages, tool calls, a cost, a latency or an error', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Weather?' }] },
    ];
    const call = { id: 'call_1', name: 'get_weather', input: { city: 'Paris' } };
    const [chat = '', failed = '', elsewhere = ''] = await recorded(
      run({ input: messages, output: null, tool_calls: [call], cost: 0.00021, latency: 611, tokens: undefined }),
      run({ output: undefined, error: { code: 'model_timeout', message: 'Too slow.' }, tokens: undefined }),
      run({ model: 'meta-llama/Llama-3', provider: 'together', cost: { amount: '1e0'.replace('e0', '.50') } }),
    );
    expect(await get(chat)).toMatchObject({
      input: messages,
      output: null,
      tool_calls: [call],
      tokens: { total: 0 },
      tokens_unknown: true,
      calls: [{ tokens: null }],
      cost: { amount: '0.00021', pricing: null },
      latency: { model_ms: 611, total_ms: 1_000 },
    });
    expect(await get(failed)).toMatchObject({
      status: 'failed',
      error: { code: 'model_timeout', message: 'Too slow.' },
      output: null,
      cost: { amount: null },
    });
    expect(await get(elsewhere)).toMatchObject({
      model: 'together/meta-llama/Llama-3',
      provider: 'together',
      cost: { amount: '1.5' },
    });
  });

  test('of a model without a known price costs null, and a bare name has its provider', async () => {
    const [unknown = '', bare = ''] = await recorded(run({ model: 'house/llama' }), run({ model: 'gpt-4o-mini' }));
    expect((await get(unknown)).cost).toEqual({ amount: null, currency: 'USD', pricing: null });
    expect(await get(bare)).toMatchObject({ model: 'openai/gpt-4o-mini', cost: { amount: expect.any(String) } });
  });

  test('is found by filters, counted in usage and statistics, and copied to datasets', async () => {
    const model = 'house/counted';
    await seedPrompt(service.call, 'recorded/counted');
    const about = { model, prompt_name: 'recorded/counted', prompt_version: 1, cost: '0.25' };
    const [one = '', two = ''] = await recorded(
      run({ ...about, input: 'one', output: '1' }, ago(9 * SECOND_MS)),
      run({ ...about, input: 'two', output: '2', variables: { q: 'two' } }, ago(8 * SECOND_MS)),
    );
    const list = async (query: string) =>
      (await service.call('GET', `/executions?${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await list(`model=${model}&recorded=true`)).toEqual([two, one]);
    expect(await list(`model=${model}&recorded=false`)).toEqual([]);
    expect(await list(`model=${model}&since=${ago(60 * SECOND_MS).toISOString()}`)).toEqual([two, one]);
    expect((await service.call('GET', '/executions?recorded=yes')).status).toBe(400);
    const usage = await service.call('GET', `/usage?group_by=model&model=${model}`);
    expect(usage.body.data).toEqual([
      expect.objectContaining({
        executions: 2,
        completed: 2,
        tokens: expect.objectContaining({ input: 2_000, output: 1_000 }),
        cost: expect.objectContaining({ amount: '0.5' }),
      }),
    ]);
    const statistics = await service.call('GET', '/statistics/prompts/recorded/counted');
    expect(statistics.body.runs).toEqual([expect.objectContaining({ prompt_version: 1, runs: 2 })]);
    const dataset = await service.call('POST', '/datasets/recorded/from-executions', {
      body: { model, recorded: true },
    });
    expect([dataset.status, dataset.body.examples_total]).toEqual([201, 2]);
    const { body } = await service.call('GET', '/datasets/recorded/examples');
    expect(body.data).toEqual([
      expect.objectContaining({ id: one, variables: { input: 'one' }, expected: '1' }),
      expect.objectContaining({ id: two, variables: { q: 'two' }, expected: '2' }),
    ]);
    expect((await service.call('DELETE', `/executions/${one}`)).status).toBe(200);
  });

  test('of a summarized day is added to its sums', async () => {
    const { db, log } = service.dependencies;
    await seedPrompt(service.call, 'recorded/late');
    const about = { prompt_name: 'recorded/late', prompt_version: 1, cost: 1 };
    const noon = (days: number) => new Date(Math.floor(ago(days * DAY_MS).getTime() / DAY_MS) * DAY_MS + DAY_MS / 2);
    await recorded(run({ ...about, latency: 100 }, noon(3)));
    await sumUpPromptDays(db.system, log);
    await recorded(
      run({ ...about, latency: 300 }, noon(3)),
      run({ ...about, error: { code: 'x', message: 'x' } }, noon(3)),
      run(about, noon(5)),
      run(about, ago(5 * SECOND_MS)),
    );
    const { body } = await service.call(
      'GET',
      `/statistics/prompts/recorded/late?since=${ago(10 * DAY_MS).toISOString()}`,
    );
    expect(
      body.runs.map(({ runs, failed, cost }: { runs: number; failed: number; cost: { amount: string } }) => [
        runs,
        failed,
        cost.amount,
      ]),
    ).toEqual([
      [1, 0, '1'],
      [3, 1, '3'],
      [1, 0, '1'],
    ]);
  });
});

describe('a run of a release', () => {
  test('decides nothing unless an analysis counts recorded runs', async () => {
    const { call } = service;
    await seedPrompt(call, 'recorded/decides');
    const checks = [{ metric: 'error_rate', against: 0, max_increase: 0 }];
    const { id } = await startRelease(call, 'recorded/decides', [
      { type: 'canary', percent: 50 },
      { type: 'analyze', for: '1h', checks },
    ]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const failed = { prompt_name: 'recorded/decides', error: { code: 'x', message: 'x' }, output: undefined };
    const [first = ''] = await recorded(
      ...Array.from({ length: 20 }, () => run({ ...failed, release: { id, arm: 'candidate' } })),
    );
    expect(await get(first)).toMatchObject({ release: { id, arm: 'candidate' } });
    await sumUpReleases(service.dependencies.db.system.query);
    expect((await call('GET', `/releases/${id}`)).body).toMatchObject({
      status: 'in_progress',
      arms: { candidate: { executions: 0 } },
    });
    await call('POST', `/releases/${id}/cancel`, { body: {} });
  });

  test('counts for its arm, by the release or by the label', async () => {
    const { call, dependencies } = service;
    await seedPrompt(call, 'recorded/release');
    const { id } = await startRelease(call, 'recorded/release', [
      { type: 'canary', percent: 50 },
      {
        type: 'analyze',
        for: '1h',
        checks: [{ metric: 'error_rate', against: 1, max_increase: 0 }],
        recorded: true,
      },
    ]);
    await untilRelease(call, id, ({ step }) => step === 1);
    const of = (more: object) => run({ prompt_name: 'recorded/release', ...more });
    const [candidate = '', stable = '', other = ''] = await recorded(
      of({ release: { id, arm: 'candidate' } }),
      of({ label: 'production', prompt_version: 1, error: { code: 'x', message: 'x' } }),
      of({ label: 'staging', prompt_version: 1 }),
      // Its square is out of PostgreSQL's range.
      of({ release: { id, arm: 'candidate' }, cost: 1e-200, tokens: undefined }),
    );
    expect(await get(candidate)).toMatchObject({ prompt_version: 2, release: { id, arm: 'candidate', keyed: false } });
    expect(await get(stable)).toMatchObject({ prompt_version: 1, release: { id, arm: 'stable' } });
    expect((await get(other)).release).toBeNull();
    await sumUpReleases(dependencies.db.system.query);
    const [sums] = await dependencies.db.system.query<{ sums: object }>({
      text: `select json_object_agg(arm || ' ' || measure, total) as sums from release_sums
             where starts_at = to_timestamp(0) and measure in ('error', 'tokens')`,
    });
    expect(sums?.sums).toEqual({
      'candidate error': 0,
      'candidate tokens': 1_500,
      'stable error': 1,
      'stable tokens': 1_500,
    });
    const listed = await call('GET', `/executions?release=${id}&arm=candidate`);
    expect(listed.body.data).toHaveLength(2);

    const refused = await record([
      of({ release: { id, arm: 'candidate' }, prompt_version: 1 }),
      of({ release: { id, arm: 'stable' }, label: 'staging' }),
      { ...of({ release: { id, arm: 'stable' } }), prompt_name: 'recorded/prompt' },
      of({ label: 'production' }),
    ]);
    expect(refused.body.error.details.map(({ path }: { path: string }) => path)).toEqual([
      'records.0.prompt_version',
      'records.1.label',
      'records.2.release.id',
      'records.3.prompt_version',
    ]);
    const foreign = await createOtherWorkspace(service, 'release-thief');
    await seedPrompt(foreign.call, 'recorded/release');
    const theirs = await record([of({ release: { id, arm: 'stable' } })], foreign);
    expect([theirs.status, theirs.body.error.details]).toEqual([
      400,
      [{ path: 'records.0.release.id', message: `there is no release ${id}` }],
    ]);
    await call('POST', `/releases/${id}/cancel`, { body: {} });
  });
});

describe('the same run', () => {
  test('is stored once, by the id of the execution or of the application', async () => {
    const started = ago(4 * SECOND_MS);
    const [id, key] = [execId(started), `trace-${v4()}`];
    const first = await recorded(run({ id, output: 'first' }, started), run({ id: key, output: 'first' }));
    expect(first[0]).toBe(id);
    const again = await recorded(
      run({ id: key, output: 'second' }, ago(DAY_MS)),
      run({ id, output: 'second' }, started),
      run({ id: key, output: 'third' }),
    );
    expect(again).toEqual([first[1], id, first[1]]);
    for (const each of first) expect((await get(each)).output).toBe('first');
    const twice = await recorded(run({ id: 'twice', output: 'a' }), run({ id: 'twice', output: 'b' }));
    expect(new Set(twice).size).toBe(1);
    expect((await get(twice[0] ?? '')).output).toBe('a');
  });

  test('is stored once by requests at the same time, whatever their order', async () => {
    const model = 'house/at-once';
    const started = ago(3 * SECOND_MS);
    const runs = Array.from({ length: 300 }, (_, index) =>
      run({ model, id: index % 2 === 0 ? execId(started) : `at-once-${index}` }, started),
    );
    const orders = [runs, runs.toReversed(), [...runs.slice(150), ...runs.slice(0, 150)], runs];
    const answers = await Promise.all(orders.map((records) => record(records)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.ids.toSorted().join())).size).toBe(1);
    const usage = await service.call('GET', `/usage?group_by=model&model=${model}`);
    expect(usage.body.data[0].executions).toBe(300);
  });

  test('with an Idempotency-Key returns the first response', async () => {
    const headers = { 'Idempotency-Key': v4() };
    const records = [run()];
    const [first, second] = [await record(records, { headers }), await record(records, { headers })];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
  });

  test('of another workspace is another run, and its execution is untouched', async () => {
    const other = await createOtherWorkspace(service, 'recorder');
    const started = ago(4 * SECOND_MS);
    const id = execId(started);
    const [mine = ''] = await recorded(run({ id: 'shared-key' }));
    await recorded(run({ id }, started));
    const theirs = await record([run({ id: 'shared-key', output: 'theirs' })], other);
    expect(theirs.status).toBe(201);
    expect(theirs.body.ids).not.toContain(mine);
    expect((await get(mine)).output).toBe('Hello!');
    const taken = await record([run({ model: 'house/other' }), run({ id, output: 'theirs' }, started)], other);
    expect([taken.status, taken.body.error.details]).toEqual([
      400,
      [{ path: 'records.1.id', message: 'cannot be used: generate another one' }],
    ]);
    expect((await get(id)).output).toBe('Hello!');
    expect((await other.call('GET', '/executions?model=house/other')).body.data).toEqual([]);
    expect((await other.call('GET', `/executions/${mine}`)).status).toBe(404);
  });
});

describe('nonsense', () => {
  const started = ago(4 * SECOND_MS);
  const cases: [string, object, string][] = [
    ['no model', { model: undefined }, 'model'],
    ['a bare name without a known provider', { model: 'no-such-model' }, 'model'],
    ['an unknown field', { temprature: 1 }, 'temprature'],
    ['negative tokens', { tokens: { input: -1, output: 0 } }, 'tokens.input'],
    ['half a token', { tokens: { input: 1, output: 0.5 } }, 'tokens.output'],
    ['more tokens than a call can have', { tokens: { input: 100_000_001, output: 0 } }, 'tokens.input'],
    ['more from the cache than there was', { tokens: { input: 1, output: 1, cached_input: 2 } }, 'tokens.cached_input'],
    ['a wrong total', { tokens: { input: 1, output: 1, total: 3 } }, 'tokens.total'],
    ['a negative cost', { cost: -1 }, 'cost'],
    ['a cost that is not a number', { cost: 'cheap' }, 'cost'],
    ['a cost in another currency', { cost: { amount: 1, currency: 'EUR' } }, 'cost.currency'],
    ['a negative latency', { latency: -1 }, 'latency'],
    ['no input', { input: undefined }, 'input'],
    ['an empty list of messages', { input: [] }, 'input'],
    ['a message with an unknown role', { input: [{ role: 'nobody', content: 'x' }] }, 'input.0.role'],
    ['no output', { output: null }, 'output'],
    ['an end before the start', { finished_at: ago(60 * SECOND_MS).toISOString() }, 'finished_at'],
    ['an end in the future', { finished_at: ago(-10 * 60 * SECOND_MS).toISOString() }, 'finished_at'],
    ['a time without a zone', { started_at: '2026-01-01T00:00:00' }, 'started_at'],
    ['a version without a prompt', { prompt_version: 1 }, 'prompt_version'],
    ['an unknown prompt', { prompt_name: 'recorded/none' }, 'prompt_name'],
    ['a version that is not made yet', { prompt_name: 'recorded/prompt', prompt_version: 3 }, 'prompt_version'],
    [
      'an unknown release',
      { prompt_name: 'recorded/prompt', release: { id: `rel_${v7()}`, arm: 'stable' } },
      'release.id',
    ],
    ['the id of something else', { id: `exec_${v4()}` }, 'id'],
    ['an id of another time', { id: execId(ago(DAY_MS)) }, 'id'],
    ['an id with spaces', { id: 'a b' }, 'id'],
    ['an error without a code', { error: { message: 'x' } }, 'error.code'],
    ['metadata that is not a text', { metadata: { n: 1 } }, 'metadata.n'],
  ];

  test.each(cases)('%s is a 400 that names it, and nothing is stored', async (_, more, path) => {
    const { status, body } = await record([run({ model: 'house/nonsense' }, started), run(more, started)]);
    expect([status, body.error?.code]).toEqual([400, 'invalid_request']);
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toEqual([`records.1.${path}`]);
    expect((await service.call('GET', '/executions?model=house/nonsense')).body.data).toEqual([]);
  });

  test('of over a year ago is refused', async () => {
    const { body } = await record([run({}, ago(400 * DAY_MS))]);
    expect(body.error.details).toEqual([{ path: 'records.0.started_at', message: 'must be at most 366 days ago' }]);
  });

  test('too many records, none, and a record that is too large', async () => {
    expect((await record(Array.from({ length: 1_001 }, () => run()))).body.error.details[0].path).toBe('records');
    expect((await record([])).body.error.details[0].path).toBe('records');
    const large = await record([run(), run({ variables: { text: 'x'.repeat(1024 * 1024) } })]);
    expect([large.status, large.body.error.details[0].path]).toEqual([400, 'records.1']);
    expect((await record([run({ output: 'x'.repeat(4 * 1024 * 1024) })])).body.error.code).toBe('payload_too_large');
  });

  test('a thousand at once are stored', async () => {
    const ids = await recorded(...Array.from({ length: 1_000 }, () => run({ model: 'house/thousand' })));
    expect(new Set(ids).size).toBe(1_000);
  });
});

test('a full workspace is refused, and stores none of them', async () => {
  const full = await createOtherWorkspace(service, 'full');
  const send = () => record([run({ output: 'x'.repeat(1_000_000) })], full);
  let sent = 0;
  let answer = await send();
  for (; answer.status === 201 && sent < 10; answer = await send()) sent += 1;
  expect([sent, answer.body.error.code]).toEqual([5, 'quota_exceeded']);
  const { body } = await full.call('GET', '/usage?group_by=model');
  expect(body.data[0].executions).toBe(sent);
});
