import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId, publicId } from '../../src/domain/ids.ts';
import { sumUpPromptDays } from '../../src/jobs/sum-up-prompt-days.ts';
import { sumUpUsage } from '../../src/jobs/sum-up-usage.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createOtherWorkspace } from './workspace.ts';

const DAY_MS = 86_400_000;
const now = Date.now();
const daysAgo = (days: number) => new Date(now - days * DAY_MS);
const dayOf = (time: Date) => time.toISOString().slice(0, 10);

let service: TestService;
let other: Awaited<ReturnType<typeof createOtherWorkspace>>;
let workspaceId: string;

interface Run {
  prompt: string;
  version: number | null;
  at: Date;
  status?: 'completed' | 'failed' | 'queued';
  modelMs?: number | null;
  cost?: string | null;
}

const query = () => service.dependencies.db.system.query;

/** Runs as they were left by workers long ago. */
async function insertRuns(runs: Run[], owner = workspaceId): Promise<void> {
  for (const { prompt, version, at, status = 'completed', modelMs = 100, cost = '0.001' } of runs)
    await query()(
      {
        text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
                 metadata, attempts, tokens_input, tokens_output, cost_amount, model_ms, created_at, answered_at)
               values ($1, $2, $3, $4, $5, 'sandbox/echo', 'sandbox', '{}', '{}', '{}', 1, 10, 4, $6, $7, $8, $9)`,
      },
      [
        owner,
        idAt(at),
        status,
        prompt,
        version,
        status === 'completed' ? cost : null,
        status === 'completed' ? modelMs : null,
        at,
        status === 'completed' ? at : null,
      ],
    );
}

/** The id of something that was created then. */
function idAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`;
}

async function insertEvaluation(prompt: string, at: Date, over: object = {}): Promise<string> {
  const id = idAt(at);
  const columns = {
    workspace_id: workspaceId,
    id,
    prompt_name: prompt,
    prompt_version: 2,
    content: '{"template": "x"}',
    model: 'sandbox/echo',
    provider: 'sandbox',
    parameters: '{}',
    examples_hash: '\\x00',
    examples_total: 50,
    evaluators: '[]',
    threshold: 0.8,
    baseline_mode: 'none',
    concurrency: 1,
    metadata: '{}',
    status: 'completed',
    score: 0.9,
    created_at: at,
    finished_at: at,
    ...over,
  };
  const names = Object.keys(columns);
  await query()(
    { text: `insert into evaluations (${names.join()}) values (${names.map((_, index) => `$${index + 1}`).join()})` },
    Object.values(columns),
  );
  return publicId('evaluation', id);
}

beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'sums up the days of all workspaces' });
  other = await createOtherWorkspace(service, 'other');
  for (const name of ['support/greeting', 'support/reply', 'sales/offer', 'idle'])
    await service.call('POST', '/prompts', { body: { name, template: 'Hi', model: 'sandbox/echo' } });
  const [row] = await query()<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  workspaceId = row?.id ?? '';
});
afterAll(() => service?.stop());

const list = async (parameters = '') => (await service.call('GET', `/statistics/prompts${parameters}`)).body;
const statisticsOf = async (name: string, parameters = '') =>
  (await list(parameters)).data.find((each: { prompt_name: string }) => each.prompt_name === name);
const series = async (name: string, parameters = '') =>
  (await service.call('GET', `/statistics/prompts/${name}${parameters}`)).body;

test('a list has every prompt, by name, used or not, in pages', async () => {
  const { data, next_cursor, since, until } = await list();
  expect(data.map((each: { prompt_name: string }) => each.prompt_name)).toEqual([
    'idle',
    'sales/offer',
    'support/greeting',
    'support/reply',
  ]);
  expect(next_cursor).toBeNull();
  expect(data[0]).toEqual({
    prompt_name: 'idle',
    runs: 0,
    failed: 0,
    tokens: { input: 0, output: 0, cached_input: 0, reasoning: 0, total: 0 },
    cost: { amount: '0', currency: 'USD' },
    unpriced: 0,
    latency: { p50_ms: null, p95_ms: null },
    last_score: null,
    last_evaluation_id: null,
    last_run_at: null,
  });
  const days = (Date.parse(until) - Date.parse(since)) / DAY_MS;
  expect(days).toBeGreaterThanOrEqual(7);
  expect(days).toBeLessThan(7.1);
  const inGroup = await list('?group=support');
  expect(inGroup.data).toHaveLength(2);
  const first = await list('?limit=3');
  const second = await list(`?limit=3&cursor=${first.next_cursor}`);
  expect([...first.data, ...second.data]).toEqual(data);
});

describe('runs and scores', () => {
  const twoDaysAgo = daysAgo(2);
  const fiveDaysAgo = daysAgo(5);
  let newest: string;
  let inline: string;
  beforeAll(async () => {
    await insertRuns([
      ...[100, 200, 300, 400].map((modelMs) => ({ prompt: 'support/greeting', version: 1, at: fiveDaysAgo, modelMs })),
      { prompt: 'support/greeting', version: 2, at: twoDaysAgo, modelMs: 50, cost: '0.01' },
      { prompt: 'support/greeting', version: 2, at: twoDaysAgo, status: 'failed' },
      { prompt: 'support/greeting', version: null, at: twoDaysAgo, modelMs: 70 },
      { prompt: 'support/greeting', version: 1, at: daysAgo(40), modelMs: 9_000 },
      { prompt: 'support/reply', version: 1, at: daysAgo(1), cost: null },
      { prompt: 'support/reply', version: 1, at: daysAgo(1), status: 'queued' },
    ]);
    await sumUpUsage(service.dependencies.db.system);
    await insertEvaluation('support/greeting', daysAgo(30), { score: 0.2 });
    newest = await insertEvaluation('support/greeting', daysAgo(3), {
      dataset_name: 'support/questions',
      dataset_version: 4,
    });
    await insertEvaluation('support/greeting', daysAgo(1), { status: 'running', score: null, finished_at: null });
    inline = await insertEvaluation('support/reply', daysAgo(20), { score: 1, examples_total: 3 });
  });

  test('are totaled by prompt, with the latency of the span and the last score of any time', async () => {
    expect(await statisticsOf('support/greeting')).toEqual({
      prompt_name: 'support/greeting',
      runs: 7,
      failed: 1,
      tokens: { input: 70, output: 28, cached_input: 0, reasoning: 0, total: 98 },
      cost: { amount: '0.015', currency: 'USD' },
      unpriced: 0,
      latency: { p50_ms: 100, p95_ms: 400 },
      last_score: 0.9,
      last_evaluation_id: newest,
      last_run_at: twoDaysAgo.toISOString(),
    });
    expect(await statisticsOf('support/reply')).toMatchObject({
      runs: 2,
      cost: { amount: null },
      unpriced: 1,
      last_score: 1,
      last_evaluation_id: inline,
    });
    expect(await statisticsOf('support/greeting', `?since=${daysAgo(50).toISOString()}`)).toMatchObject({
      runs: 8,
      latency: { p95_ms: 9_000 },
    });
    expect(
      await statisticsOf('support/greeting', `?since=${daysAgo(50).toISOString()}&until=${daysAgo(45).toISOString()}`),
    ).toMatchObject({ runs: 0, latency: { p50_ms: null }, last_evaluation_id: newest });
  });

  test('make a series by day and version, oldest first', async () => {
    const { runs, scores, ...rest } = await series('support/greeting', `?since=${daysAgo(7).toISOString()}`);
    expect(rest).toEqual({
      prompt_name: 'support/greeting',
      since: daysAgo(7).toISOString(),
      until: expect.any(String),
    });
    const tokens = (count: number) => ({
      input: 10 * count,
      output: 4 * count,
      cached_input: 0,
      reasoning: 0,
      total: 14 * count,
    });
    const cost = (amount: string) => ({ amount, currency: 'USD' });
    expect(runs).toEqual([
      {
        day: dayOf(fiveDaysAgo),
        prompt_version: 1,
        runs: 4,
        failed: 0,
        tokens: tokens(4),
        cost: cost('0.004'),
        unpriced: 0,
        latency: { p50_ms: 200, p95_ms: 400 },
      },
      {
        day: dayOf(twoDaysAgo),
        prompt_version: null,
        runs: 1,
        failed: 0,
        tokens: tokens(1),
        cost: cost('0.001'),
        unpriced: 0,
        latency: { p50_ms: 70, p95_ms: 70 },
      },
      {
        day: dayOf(twoDaysAgo),
        prompt_version: 2,
        runs: 2,
        failed: 1,
        tokens: tokens(2),
        cost: cost('0.01'),
        unpriced: 0,
        latency: { p50_ms: 50, p95_ms: 50 },
      },
    ]);
    expect(scores).toEqual([
      {
        evaluation_id: newest,
        prompt_version: 2,
        dataset: { name: 'support/questions', version: 4 },
        score: 0.9,
        // Wilson's interval for 45 of 50.
        interval: { low: 0.786398, high: 0.956524 },
        finished_at: daysAgo(3).toISOString(),
      },
    ]);
  });

  test('of inline examples have no dataset, and an interval even if all are right', async () => {
    const { runs, scores } = await series('support/reply', `?since=${daysAgo(60).toISOString()}`);
    expect(runs).toEqual([
      expect.objectContaining({ runs: 2, failed: 0, unpriced: 1, cost: { amount: null, currency: 'USD' } }),
    ]);
    expect(scores).toEqual([
      expect.objectContaining({ evaluation_id: inline, dataset: null, interval: { low: 0.438503, high: 1 } }),
    ]);
  });

  test('of another workspace are not visible', async () => {
    expect((await other.call('GET', '/statistics/prompts')).body.data).toEqual([]);
    expect((await other.call('GET', '/statistics/prompts/support/greeting')).status).toBe(404);
    await other.call('POST', '/prompts', { body: { name: 'support/greeting', template: 'Hi', model: 'sandbox/echo' } });
    expect((await other.call('GET', '/statistics/prompts/support/greeting')).body).toMatchObject({
      runs: [],
      scores: [],
    });
    expect((await other.call('GET', '/statistics/prompts')).body.data).toEqual([
      expect.objectContaining({ runs: 0, last_run_at: null, last_evaluation_id: null }),
    ]);
  });
});

describe('past days', () => {
  const startOf = (days: number) => new Date(Math.floor(daysAgo(days).getTime() / DAY_MS) * DAY_MS);
  const noon = (days: number) => new Date(startOf(days).getTime() + DAY_MS / 2);
  const sumUp = () => sumUpPromptDays(service.dependencies.db.system, service.dependencies.log);
  const progress = async () =>
    (await query()({ text: 'select days_until from statistics_progress where workspace_id = $1' }, [workspaceId]))[0];
  /** From and until the start of a day, and within one. */
  const spans = [
    [daysAgo(90), new Date()],
    [startOf(20), new Date()],
    [startOf(20), startOf(12)],
    [startOf(14), startOf(13)],
    [noon(13), new Date()],
    [noon(14), noon(12)],
    [noon(13), new Date(noon(13).getTime() + 60_000)],
  ].map((times) => times.map((time) => time.toISOString()));
  const everySeries = async () => {
    const all = [];
    for (const [since, until] of spans) all.push(await series('days', `?since=${since}&until=${until}`));
    return all;
  };

  beforeAll(async () => {
    await service.call('POST', '/prompts', { body: { name: 'days', template: 'Hi', model: 'sandbox/echo' } });
    const runs = [12, 13, 14, 15, 60].flatMap((days) =>
      [0, 0.25, 0.5, 0.75].flatMap((part) => {
        const at = new Date(startOf(days).getTime() + part * DAY_MS);
        return [
          { prompt: 'days', version: 1, at, modelMs: days + 100 * part },
          { prompt: 'days', version: 2, at, cost: null },
          { prompt: 'days', version: null, at, status: 'failed' as const },
        ];
      }),
    );
    await insertRuns(runs);
  });

  test('are summed up once, which changes no answer', async () => {
    const before = await everySeries();
    await query()({ text: `update executions set status = 'completed' where status = 'queued'` });
    await Promise.all([sumUp(), sumUp()]);
    expect(await progress()).toEqual({ days_until: startOf(new Date().getUTCHours() === 0 ? 1 : 0) });
    expect(await everySeries()).toEqual(before);
    expect(before[3]?.runs.map(({ runs }: { runs: number }) => runs)).toEqual([4, 4, 4]);
    const other = await query()({ text: `select 1 from prompt_days where workspace_id <> $1` }, [workspaceId]);
    expect(other).toEqual([]);
  });

  test('keep deleted runs, and later runs are added', async () => {
    const before = await series('days', `?since=${startOf(20).toISOString()}`);
    await query()({ text: `delete from executions where prompt_name = 'days' and created_at > $1` }, [startOf(14)]);
    expect((await series('days', `?since=${startOf(20).toISOString()}`)).runs).toEqual(before.runs);
    await insertRuns([{ prompt: 'days', version: 3, at: new Date() }]);
    const { runs } = await series('days', `?since=${startOf(20).toISOString()}`);
    expect(runs.slice(0, -1)).toEqual(before.runs);
    expect(runs.at(-1)).toMatchObject({ prompt_version: 3, runs: 1 });
  });

  test('wait for their last run, two days at most', async () => {
    const waits = async (days: number) => {
      await query()({ text: 'update statistics_progress set days_until = $1' }, [startOf(days)]);
      await query()({ text: `delete from prompt_days where starts_at >= $1` }, [startOf(days)]);
      await query()({ text: `delete from executions where prompt_name = 'days' and created_at >= $1` }, [startOf(5)]);
      await insertRuns([{ prompt: 'days', version: 1, at: noon(days), status: 'queued' }]);
      await sumUp();
      return (await progress())?.['days_until'];
    };
    expect(await waits(2)).toEqual(startOf(2));
    expect(await waits(4)).not.toEqual(startOf(4));
    await query()({ text: `update executions set status = 'completed' where status = 'queued'` });
  });

  test('of a workspace that cannot be summed up delay no other', async () => {
    const [row] = await query()<{ id: string }>({ text: `select id from workspaces where name = 'other'` });
    await insertRuns([{ prompt: 'others', version: 1, at: noon(3) }], row?.id);
    const progressOfOther = async () =>
      (await query()({ text: 'select days_until from statistics_progress where workspace_id = $1' }, [row?.id]))[0];
    await query()({
      text: `alter table prompt_days add constraint no_others check (prompt_name <> 'others') not valid`,
    });
    await query()({ text: 'update statistics_progress set days_until = $1 where workspace_id = $2' }, [
      startOf(2),
      workspaceId,
    ]);
    await sumUp();
    expect((await progress())?.['days_until']).not.toEqual(startOf(2));
    expect(await progressOfOther()).toBeUndefined();
    await query()({ text: 'alter table prompt_days drop constraint no_others' });
    await sumUp();
    expect(await progressOfOther()).toEqual(await progress());
  });

  test('are cut if they would be too many rows, at the start of a day', async () => {
    await query()(
      {
        text: `insert into prompt_days (workspace_id, prompt_name, starts_at, prompt_version, runs, failed, tokens_input, tokens_output,
                 tokens_cached_input, tokens_reasoning, unpriced, cost_amount)
               select $1, 'days', $2::timestamptz + make_interval(days => day), version, 1, 0, 0, 0, 0, 0, 0, 0
               from generate_series(1, 4) as day, generate_series(1001, 3000) as version`,
      },
      [workspaceId, startOf(40)],
    );
    const { since, runs } = await series('days', `?since=${startOf(45).toISOString()}`);
    expect(since).toBe(startOf(37).toISOString());
    expect(runs[0]).toMatchObject({ day: dayOf(startOf(37)), prompt_version: 1001 });
    const before = await series('days', `?since=${startOf(45).toISOString()}&until=${since}`);
    expect(before.since).toBe(startOf(45).toISOString());
    expect(before.runs).toHaveLength(4_000);
  });
});

test('of a prompt with very many runs include the newest, and the answer has their start', async () => {
  // Within minutes: days that are over have been summed up by now, whatever the time of day.
  await query()(
    {
      text: `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
               metadata, created_at)
             select $1, encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
                 substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid,
               'canceled', 'sales/offer', n, 'sandbox/echo', 'sandbox', '{}', '{}', '{}', at
             from (select n, now() - make_interval(secs => n / 100.0) as at from generate_series(1, 20100) as n) as given`,
    },
    [workspaceId],
  );
  const countOf = (runs: { runs: number }[]) => runs.reduce((sum, row) => sum + row.runs, 0);
  // Each run has a separate version, which would be a row each.
  const many = await series('sales/offer');
  expect(countOf(many.runs)).toBe(5_000);
  await query()({ text: `update executions set prompt_version = 1 where prompt_name = 'sales/offer'` });
  const one = await series('sales/offer');
  expect(countOf(one.runs)).toBe(20_000);
  for (const { since, runs } of [many, one]) {
    const before = await series('sales/offer', `?until=${since}`);
    const after = await series('sales/offer', `?since=${since}`);
    expect(countOf(after.runs)).toBe(countOf(runs));
    expect(before.until).toBe(since);
  }
  expect(countOf((await series('sales/offer', `?until=${one.since}`)).runs)).toBe(100);
});

test.each([
  [`since=${daysAgo(91).toISOString()}`, 'since'],
  [`since=${daysAgo(1).toISOString()}&until=${daysAgo(2).toISOString()}`, 'since'],
  [`since=${new Date(now + DAY_MS).toISOString()}`, 'since'],
  ['until=yesterday', 'until'],
  ['no_such=1', 'no_such'],
])('a bad span is refused: %s', async (parameters, field) => {
  for (const path of ['/statistics/prompts', '/statistics/prompts/support/greeting']) {
    const { status, body } = await service.call('GET', `${path}?${parameters}`);
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, 'invalid_request', field]);
  }
});

test('an unknown prompt is a 404', async () => {
  const missing = await service.call('GET', '/statistics/prompts/no/such');
  expect([missing.status, missing.body.error.code]).toEqual([404, 'not_found']);
});
