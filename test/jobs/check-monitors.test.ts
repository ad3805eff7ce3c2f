import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Query } from '../../src/db/database.ts';
import { parsePublicId } from '../../src/domain/ids.ts';
import { checkMonitors } from '../../src/jobs/check-monitors.ts';
import { settleTraces } from '../../src/jobs/settle-traces.ts';
import { checkDueMonitors } from '../../src/services/monitors/look-at-monitors.ts';
import { correctMinutes, sumUpRuns } from '../../src/services/monitors/sum-up-runs.ts';
import { storeScores } from '../../src/services/scores/store-scores.ts';
import { countTrace } from '../../src/services/traces/count-trace.ts';
import { checkNow, makeDue, putMonitor, type Runs, storeRuns } from '../api/monitors/monitors-support.ts';
import { agent, DONE, modelCall, newSpanId, newTraceId, send, span } from '../api/traces/traces-support.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { type Call, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let workspaceId: string;
let call: Call;
let count = 0;
beforeAll(async () => {
  service = await startTestService({}, { workers: false });
});
afterAll(() => service?.stop());

/** Each test has a separate workspace. */
beforeEach(async () => {
  count += 1;
  ({ call } = await createOtherWorkspace(service, `monitors ${count}`));
  workspaceId = await idOf(`monitors ${count}`);
});

async function idOf(name: string): Promise<string> {
  const [row] = await service.dependencies.db.system.query<{ id: string }>(
    { text: 'select id from workspaces where name = $1' },
    [name],
  );
  return row?.id ?? '';
}

const store = (runs: Runs) => storeRuns(service.dependencies, workspaceId, runs);
const stateOf = async (name: string) => (await call('GET', `/monitors/${name}`)).body;
const eventsOf = async (type: string) => (await call('GET', `/events?event=${type}`)).body.data;
const ERRORS = { metric: 'error_rate', above: 0.5, min_executions: 1, for: '1m' };

describe('the measurement', () => {
  const checks = ['error_rate', 'refusal_rate', 'latency_p95', 'cost_mean', 'cost_total'].map((metric) => ({
    metric,
    above: metric.endsWith('rate') ? 0.99 : 1e6,
    min_executions: 0,
  }));
  const measured = async (name: string) =>
    Object.fromEntries((await stateOf(name)).values.map(({ metric, ...value }: { metric: string }) => [metric, value]));

  test('is every metric, of the runs that ended in the window', async () => {
    await store({ count: 90, latencyMs: 100, cost: 0.01 });
    await store({ count: 10, latencyMs: 3000, cost: 0.11 });
    await store({ count: 20, status: 'failed' });
    await store({ count: 5, status: 'failed', errorCode: 'content_filtered' });
    await store({ count: 7, status: 'canceled' });
    // Neither its cost nor its latency says anything about a model.
    await store({ count: 25, reused: true, latencyMs: 1, cost: 0 });
    await store({ count: 50, status: 'failed', secondsAgo: 3 * 60 * 60 });
    await putMonitor(call, 'all', { window: '1h', checks });
    await checkNow(service.dependencies);
    const values = await measured('all');
    expect(values).toMatchObject({
      error_rate: { value: 25 / 150, count: 150, alerting: false },
      refusal_rate: { value: 5 / 150, count: 150 },
      cost_mean: { count: 100 },
      cost_total: { count: 150 },
    });
    expect(values['cost_mean'].value).toBeCloseTo(0.02);
    expect(values['cost_total'].value).toBeCloseTo(2);
    expect(values['latency_p95'].count).toBe(100);
    // Exact to the width of a latency bucket.
    expect(values['latency_p95'].value / 3000).toBeGreaterThan(0.98);
    expect(values['latency_p95'].value / 3000).toBeLessThan(1.02);
  });

  test('has a history by window, as far back as minutes are summed up', async () => {
    await store({ count: 10, status: 'failed', secondsAgo: 3 * 60 * 60 });
    await store({ count: 10, latencyMs: 500, secondsAgo: 120 });
    await putMonitor(call, 'past', { window: '1h', checks: [ERRORS, { metric: 'latency_p95', above: 1e6 }] });
    const past = async () => (await call('GET', '/monitors/past/history/numbers')).body.data;
    expect(await past()).toEqual([]);
    await checkNow(service.dependencies);
    const points: { at: string; values: { metric: string; value: number | null; count: number }[] }[] = await past();
    expect(points).toHaveLength(48);
    const last = Date.parse(points.at(-1)?.at ?? '');
    expect(points.map(({ at }) => last - Date.parse(at))).toEqual(
      points.map((_, index) => (points.length - 1 - index) * 20 * 60_000),
    );
    // A run three hours ago is in the three windows that end in the hour after it.
    const rates = points.map(({ values }) => values[0]?.value);
    expect(rates.filter((rate) => rate === 1)).toHaveLength(3);
    expect(rates.slice(-3)).toEqual([null, null, 0]);
    expect(points.at(-1)?.values).toEqual([
      { metric: 'error_rate', value: 0, count: 10 },
      { metric: 'latency_p95', value: expect.closeTo(500, -1), count: 10 },
    ]);
    await putMonitor(call, 'day', { window: '24h', checks: [ERRORS] });
    await checkNow(service.dependencies);
    const { data: days } = (await call('GET', '/monitors/day/history/numbers')).body;
    expect(days).toHaveLength(6);
    expect(days[0].values).toEqual([{ metric: 'error_rate', value: expect.any(Number), count: expect.any(Number) }]);
  });

  test('is limited to the prompt, or to users of a label, or covers everything with drafts', async () => {
    await store({ count: 3, status: 'failed' });
    await store({ count: 1, label: 'production' });
    await store({ count: 1, label: 'production', status: 'failed' });
    await store({ count: 5, prompt: 'other', label: 'production' });
    await store({ count: 2, prompt: null });
    const errors = [{ ...ERRORS, above: 0.99 }];
    await putMonitor(call, 'prompt', { window: '1h', prompt_name: 'say', checks: errors });
    await putMonitor(call, 'label', { window: '1h', prompt_name: 'say', label: 'production', checks: errors });
    await putMonitor(call, 'labels', { window: '1h', label: 'production', checks: errors });
    await putMonitor(call, 'everything', { window: '1h', checks: errors });
    await putMonitor(call, 'nothing', { window: '1h', prompt_name: 'unknown', checks: errors });
    await checkNow(service.dependencies);
    const seen = async (name: string) => (await stateOf(name)).values[0];
    expect(await seen('prompt')).toMatchObject({ count: 5, value: 0.8 });
    expect(await seen('label')).toMatchObject({ count: 2, value: 0.5 });
    expect(await seen('labels')).toMatchObject({ count: 7, value: 1 / 7 });
    expect(await seen('everything')).toMatchObject({ count: 12 });
    expect(await seen('nothing')).toMatchObject({ count: 0, value: null });
    expect((await stateOf('nothing')).state).toBe('no_data');
  });

  test('is every metric of settled traces, of all or of those with a prompt', async () => {
    const { db, models, log } = service.dependencies;
    await call('POST', '/prompts', { body: { name: 'travel', template: 'Go', model: 'openai/gpt-4o-mini' } });
    const trace = async (ms: number, error?: string, prompt?: string) => {
      const [traceId, id] = [newTraceId(), newSpanId()];
      const others = { 'pms.cost.usd': 0.5, ...(prompt !== undefined && { 'gen_ai.prompt.name': prompt }) };
      const root = { traceId, id, ms, attributes: agent(0, 0, DONE), ...(error !== undefined && { error }) };
      await send(call, [span(root), span({ traceId, parent: id, attributes: modelCall(5, 2, others) })]);
      return traceId;
    };
    const [first] = [await trace(1_000, undefined, 'travel'), await trace(2_000, 'lost'), await trace(4_000)];
    await send(call, [span({ traceId: newTraceId(), ms: 9_000, error: 'not settled', attributes: agent(0, 0) })]);
    await settleTraces({ models, onSettled: async () => {} }, db, log);
    const score = (value: number, subject: object) =>
      call('POST', '/scores', { body: { name: 'solved', value, subject } });
    expect((await score(1, { trace_id: first })).status).toBe(201);
    const { body } = await call('GET', `/executions?trace_id=${first}`);
    await score(0, { execution_id: body.data[0].id });
    const metrics = [
      'trace:error_rate',
      'trace:latency_p95',
      'trace:cost_mean',
      'trace:steps_mean',
      'trace:score:solved',
      'score:solved',
    ];
    const traces = metrics.map((metric) => ({ metric, above: metric.endsWith('rate') ? 0.9 : 1e6, min_executions: 1 }));
    await putMonitor(call, 'traces', { window: '1h', checks: traces });
    await putMonitor(call, 'of-travel', { window: '1h', prompt_name: 'travel', checks: traces });
    await checkNow(service.dependencies);
    const all = await measured('traces');
    expect(all).toMatchObject({
      'trace:error_rate': { value: 1 / 3, count: 3 },
      'trace:cost_mean': { value: 0.5, count: 3 },
      'trace:steps_mean': { value: 2, count: 3 },
      'trace:score:solved': { value: 1, count: 1 },
      'score:solved': { value: 0, count: 1 },
    });
    expect(all['trace:latency_p95'].value / 4_000).toBeCloseTo(1, 1);
    expect(await measured('of-travel')).toMatchObject({
      'trace:error_rate': { value: 0, count: 1 },
      'trace:score:solved': { value: 1, count: 1 },
    });
    // Numbers are not contents.
    expect((await call('PUT', '/trace-policy', { body: { contents: 'drop' } })).status).toBe(200);
    const without = await trace(3_000, 'lost');
    await settleTraces({ models, onSettled: async () => {} }, db, log);
    expect((await call('GET', `/traces/${without}`)).body).toMatchObject({ input: null, output: null });
    await checkNow(service.dependencies);
    expect(await measured('traces')).toMatchObject({
      'trace:error_rate': { value: 2 / 4, count: 4 },
      'trace:cost_mean': { value: 0.5, count: 4 },
      'trace:steps_mean': { value: 2, count: 4 },
    });
  });

  test('follows a trace that settles again, also after its minute and hour have been summed up', async () => {
    const { db, models, log } = service.dependencies;
    const settle = async () => {
      const onSettled = async (query: Query, trace: string) => {
        const counted = await countTrace(query, trace);
        if (counted?.before) await correctMinutes(query, trace, counted.before);
      };
      await settleTraces({ models, onSettled }, db, log);
    };
    const metrics = ['trace:error_rate', 'trace:latency_p95', 'trace:cost_mean', 'trace:steps_mean'];
    const traces = metrics.map((metric) => ({ metric, above: metric.endsWith('rate') ? 0.9 : 1e6, min_executions: 1 }));
    await putMonitor(call, 'late', { window: '6h', checks: traces });
    const [traceId, root] = [newTraceId(), newSpanId()];
    const priced = modelCall(5, 2, { 'pms.cost.usd': 0.5, ...DONE });
    await send(call, [
      span({ traceId, parent: root, ms: 100, attributes: priced }),
      span({ traceId: newTraceId(), ms: 100, attributes: priced }),
    ]);
    await settle();
    const text = `update traces set completed_at = completed_at - interval '3 hours' where workspace_id = $1`;
    await db.system.query({ text }, [workspaceId]);
    await checkNow(service.dependencies);
    expect(await measured('late')).toMatchObject({
      'trace:error_rate': { value: 0, count: 2 },
      'trace:cost_mean': { value: 0.5, count: 2 },
      'trace:steps_mean': { value: 1, count: 2 },
    });
    const others = { traceId, parent: root, ms: 100, attributes: priced };
    await send(call, [
      span({ traceId, id: root, ms: 8_000, error: 'lost', attributes: agent(0, 0, DONE) }),
      span(others),
    ]);
    await settle();
    await checkNow(service.dependencies);
    const all = await measured('late');
    expect(all).toMatchObject({
      'trace:error_rate': { value: 0.5, count: 2 },
      'trace:cost_mean': { value: 0.75, count: 2 },
      'trace:steps_mean': { value: 2, count: 2 },
      'trace:latency_p95': { count: 2 },
    });
    const { body: ended } = await call('GET', `/traces/${traceId}`);
    expect(all['trace:latency_p95'].value / ended.duration_ms).toBeCloseTo(1, 1);
  });

  test('is the mean of a score on runs, not on evaluations', async () => {
    await store({ count: 4 });
    const { body: runs } = await call('GET', '/executions');
    const scores = [true, true, true, false].map((value, index) => ({
      name: 'helpful',
      value,
      subject: { executionId: parsePublicId('execution', runs.data[index].id) ?? '' },
      source: 'api' as const,
      author: null,
    }));
    const { db } = service.dependencies;
    await db.workspace(workspaceId).transaction((query) => storeScores(query, scores));
    await db.system.query(
      {
        text: `insert into scores (workspace_id, id, name, data_type, number, evaluation_id, example_id, source, subject_at, created_at, updated_at)
               values ($1, gen_random_uuid(), 'helpful', 'boolean', 0, gen_random_uuid(), 'one', 'api', now(), now(), now())`,
      },
      [workspaceId],
    );
    const helpful = { metric: 'score:helpful', below: 0.8, min_executions: 4, for: '1m' };
    await putMonitor(call, 'helpful', { window: '1h', prompt_name: 'say', checks: [helpful] });
    await checkNow(service.dependencies);
    expect(await stateOf('helpful')).toMatchObject({ state: 'alerting', values: [{ value: 0.75, count: 4 }] });
  });

  test('is the mean of scores and costs even if one is too small to have a square', async () => {
    const { db } = service.dependencies;
    await store({ count: 1, cost: 1e-200 });
    await db.system.query(
      {
        text: `insert into scores (workspace_id, id, name, data_type, number, execution_id, source, subject_at, created_at, updated_at)
               select $1, gen_random_uuid(), 'helpful', 'numeric', given, gen_random_uuid(), 'feedback', now(), now(), now()
               from (values (1e-200), (1)) as scores(given)`,
      },
      [workspaceId],
    );
    const checks = ['score:helpful', 'cost_mean'].map((metric) => ({ metric, above: 100, min_executions: 0 }));
    await putMonitor(call, 'tiny', { window: '1h', checks });
    await checkNow(service.dependencies);
    expect((await stateOf('tiny')).values).toMatchObject([{ value: 0.5, count: 2 }, { count: 1 }]);
  });

  test('is the same from hourly sums as from minutely ones, over a day', async () => {
    const { db } = service.dependencies;
    for (let hour = 0; hour < 26; hour += 1)
      await store({ count: 10, secondsAgo: hour * 3600 + 1800, latencyMs: hour < 24 ? 100 + hour * 100 : 90_000 });
    const p95 = { metric: 'latency_p95', above: 1e6 };
    await putMonitor(call, 'day', { window: '24h', checks: [p95] });
    await putMonitor(call, 'hours', { window: '5h', checks: [p95] });
    await checkNow(service.dependencies);
    // 1 % of a bucket's width aside: 95 % of 240, and of 50, are at most as slow.
    const seen = async (name: string) => (await stateOf(name)).values[0];
    const day = await seen('day');
    expect(day.count).toBe(240);
    expect(day.value / 2300).toBeCloseTo(1, 1);
    const hours = await seen('hours');
    expect(hours.count).toBe(50);
    expect(hours.value / 500).toBeCloseTo(1, 1);
    const rows = await db.system.query<{ measure: string }>(
      {
        text: `select distinct measure from run_minutes where workspace_id = $1 and measure like 'latency%' order by 1`,
      },
      [workspaceId],
    );
    expect(rows.map(({ measure }) => measure)).toEqual(['latency', 'latency_hour']);
  });

  test('excludes other workspaces', async () => {
    const other = await createOtherWorkspace(service, `beside ${count}`);
    await storeRuns(service.dependencies, await idOf(`beside ${count}`), { count: 10, status: 'failed' });
    await store({ count: 4 });
    for (const caller of [call, other.call]) await putMonitor(caller, 'errors', { window: '1h', checks: [ERRORS] });
    await checkNow(service.dependencies);
    expect(await stateOf('errors')).toMatchObject({ state: 'ok', values: [{ value: 0, count: 4 }] });
    expect((await other.call('GET', '/monitors/errors')).body).toMatchObject({ state: 'alerting' });
    expect(await eventsOf('monitor.alerted')).toEqual([]);
  });

  test('is the same, however often and by however many processes minutes are summed up, and includes late data', async () => {
    const { db } = service.dependencies;
    await store({ count: 10 });
    await putMonitor(call, 'late', { window: '1h', checks: [{ metric: 'cost_total', above: 1e6 }] });
    const until = new Date();
    const sumUp = (summedUntil: Date | null) => sumUpRuns(db.system, { workspaceId, summedUntil, until });
    await Promise.all(Array.from({ length: 5 }, () => sumUp(null)));
    await sumUp(until);
    // Its transaction ends, or its application reports it, after the minute was summed up.
    await store({ count: 1, secondsAgo: 100 });
    await sumUp(until);
    await checkNow(service.dependencies);
    expect((await stateOf('late')).values).toMatchObject([{ count: 11 }]);
  });
});

describe('an alert', () => {
  test('is sent once, and so is its end; both are in the history, newest first', async () => {
    await store({ count: 4, status: 'failed' });
    await putMonitor(call, 'errors', { window: '1h', checks: [ERRORS] });
    for (let index = 0; index < 3; index += 1) await checkNow(service.dependencies);
    expect(await stateOf('errors')).toMatchObject({ state: 'alerting', values: [{ value: 1, alerting: true }] });
    await store({ count: 16 });
    for (let index = 0; index < 3; index += 1) await checkNow(service.dependencies);
    const { body: history } = await call('GET', '/monitors/errors/history');
    expect(history.data).toMatchObject([
      {
        previous_state: 'alerting',
        state: 'ok',
        reason: 'error_rate 0.2 is back at 0.45 or better (20 in 1 h)',
        values: [{ metric: 'error_rate', value: 0.2, count: 20, alerting: false }],
      },
      { previous_state: 'no_data', state: 'alerting', reason: 'error_rate 1 is above 0.5 (4 in 1 h)' },
    ]);
    expect((await call('GET', '/monitors/errors/history?limit=1')).body.next_cursor).toEqual(expect.any(String));
    expect(await eventsOf('monitor.alerted')).toHaveLength(1);
    expect(await eventsOf('monitor.recovered')).toHaveLength(1);
    const { body: notifications } = await call('GET', '/notifications');
    expect(notifications.data).toMatchObject([
      { type: 'monitor.recovered', monitor: 'errors', webhook_id: null },
      { type: 'monitor.alerted', monitor: 'errors', message: expect.stringContaining('error_rate 1 is above 0.5') },
    ]);
  });

  test('is sent once, however many processes check at once', async () => {
    const { db } = service.dependencies;
    await store({ count: 4, status: 'failed' });
    const names = Array.from({ length: 20 }, (_, index) => `m/${index}`);
    for (const name of names) await putMonitor(call, name, { window: '1h', checks: [ERRORS] });
    await sumUpRuns(db.system, { workspaceId, summedUntil: null, until: new Date() });
    await Promise.all(
      Array.from({ length: 8 }, () => checkDueMonitors(db, { workspaceId, until: new Date() }, () => false)),
    );
    const alerted = await call('GET', '/events?event=monitor.alerted&limit=100');
    expect(alerted.body.data.map(({ data }: { data: { monitor: string } }) => data.monitor).sort()).toEqual(
      names.toSorted(),
    );
    // Nor is a check counted twice.
    await putMonitor(call, 'm/0', { window: '2h', checks: [{ ...ERRORS, for: '2m' }] });
    await Promise.all(
      Array.from({ length: 8 }, () => checkDueMonitors(db, { workspaceId, until: new Date() }, () => false)),
    );
    expect((await stateOf('m/0')).state).toBe('ok');
  });

  test.each([
    [
      'disabled',
      (): Promise<unknown> => putMonitor(call, 'errors', { window: '1h', checks: [ERRORS], enabled: false }),
    ],
    ['changed', () => putMonitor(call, 'errors', { window: '2h', checks: [ERRORS] })],
    ['deleted', () => call('DELETE', '/monitors/errors')],
  ])('ends if the monitor is %s', async (how, change) => {
    await store({ count: 4, status: 'failed' });
    await putMonitor(call, 'errors', { window: '1h', checks: [ERRORS] });
    await checkNow(service.dependencies);
    // Changing the recipients changes nothing.
    await putMonitor(call, 'errors', { window: '1h', checks: [ERRORS], notify: { email: false } });
    expect((await stateOf('errors')).state).toBe('alerting');
    await putMonitor(call, 'errors', { window: '1h', checks: [ERRORS] });
    await change();
    expect(await eventsOf('monitor.recovered')).toMatchObject([
      { data: { state: 'no_data', reason: `the monitor was ${how}` } },
    ]);
    if (how === 'disabled') {
      await checkNow(service.dependencies);
      expect(await stateOf('errors')).toMatchObject({ state: 'no_data', values: [], last_checked_at: null });
    }
  });

  test('stays if nothing runs anymore', async () => {
    await store({ count: 4, status: 'failed', secondsAgo: 20 });
    await putMonitor(call, 'errors', { window: '5m', checks: [ERRORS] });
    await checkNow(service.dependencies);
    await service.dependencies.db.system.query({
      text: `update run_minutes set starts_at = starts_at - interval '3 days'`,
    });
    await service.dependencies.db.system.query({
      text: `update executions set finished_at = finished_at - interval '3 days'`,
    });
    for (let index = 0; index < 7; index += 1) await checkNow(service.dependencies);
    expect(await stateOf('errors')).toMatchObject({ state: 'alerting', values: [{ value: null, count: 0 }] });
    expect(await eventsOf('monitor.recovered')).toEqual([]);
  });
});

describe('workspaces', () => {
  test('that take long are left after a step, and resumed after the others', async () => {
    const { db, log } = service.dependencies;
    await store({ count: 4, status: 'failed', secondsAgo: 23 * 60 * 60 });
    await putMonitor(call, 'errors', { window: '24h', checks: [ERRORS] });
    await db.system.query({ text: 'update monitored_workspaces set check_at = $2 where workspace_id = $1' }, [
      workspaceId,
      new Date(0),
    ]);
    const until = new Date();
    const turn = await sumUpRuns(db.system, { workspaceId, summedUntil: null, until }, () => true);
    expect(turn.isDone).toBe(false);
    // No other process takes it in the meantime.
    expect(Number(turn.claimedUntil)).toBeGreaterThan(until.getTime());
    const [row] = await db.system.query<{ summed: Date }>(
      { text: 'select summed_until as summed from monitored_workspaces where workspace_id = $1' },
      [workspaceId],
    );
    expect(row?.summed.getTime()).toBeLessThan(until.getTime() - 23 * 60 * 60_000);
    await makeDue(service.dependencies);
    // Turns of one step each.
    await checkMonitors(db, log, undefined, -1);
    expect(await stateOf('errors')).toMatchObject({ state: 'alerting', values: [{ count: 4 }] });
  });

  test('that fail or have no enabled monitor delay no other', async () => {
    const { db, log } = service.dependencies;
    await putMonitor(call, 'errors', { window: '1h', checks: [ERRORS] });
    const broken = await createOtherWorkspace(service, `broken ${count}`);
    await putMonitor(broken.call, 'errors', { window: '1h', checks: [ERRORS] });
    const idle = await createOtherWorkspace(service, `idle ${count}`);
    await putMonitor(idle.call, 'errors', { window: '1h', checks: [ERRORS], enabled: false });
    await db.system.query({ text: `update monitors set "window" = 'soon' where workspace_id = $1` }, [
      await idOf(`broken ${count}`),
    ]);
    await db.system.query({ text: `update monitors set checks = '7' where workspace_id = $1` }, [
      await idOf(`broken ${count}`),
    ]);
    await makeDue(service.dependencies);
    await checkMonitors(db, log);
    expect((await stateOf('errors')).last_checked_at).not.toBeNull();
    expect((await broken.call('GET', '/monitors/errors')).body).toBeDefined();
    // It is checked once it is enabled.
    await putMonitor(idle.call, 'errors', { window: '1h', checks: [ERRORS] });
    await db.system.query({ text: 'delete from monitors where workspace_id = $1' }, [await idOf(`broken ${count}`)]);
    await checkMonitors(db, log);
    expect((await idle.call('GET', '/monitors/errors')).body.last_checked_at).not.toBeNull();
  });
});
