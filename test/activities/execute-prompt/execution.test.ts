import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { ActivityCancellationDetails, ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { pino } from 'pino';
import type { ExecutionActivities } from '../../../src/activities/execute-prompt/execution.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { CHANNELS, type Listener, openListener } from '../../../src/db/listener.ts';
import type { ClosableModels } from '../../../src/models/model.ts';
import { failExecution } from '../../../src/services/executions/run/end-execution.ts';
import { storeResponse } from '../../../src/services/executions/run/store-response.ts';
import { createTestDatabase } from '../../support/database.ts';
import { deaf, testExecutionActivities } from '../../support/execution-activities.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { testSlots } from '../../support/slots.ts';
import { until } from '../../support/wait-for.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let openai: StandIn;
let models: ClosableModels;
let rows: ExecutionRows;
let activities: ExecutionActivities;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  openai = await startOpenAiServer();
  models = modelsAt({ openai: openai.baseUrl });
  rows = await executionRows(db);
  activities = testExecutionActivities({ db, models });
});
afterEach(() => openai.behave());
afterAll(async () => {
  await models?.close();
  await openai?.close();
  await db?.close();
  await database?.drop();
});

const log = pino({ level: 'silent' });
const logger = new DefaultLogger('ERROR', () => {});
const attempt = (number = 1) => new MockActivityEnvironment({ attempt: number }, { logger });
const run = (id: string, environment = attempt()) =>
  environment.run((row: string) => activities.callModel(row, 'ws_test', 100), id);
const record = (id: string) => activities.recordCompletion(id);
const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test('stores the answer with its tokens, cost and end before the call counts as done', async () => {
  const id = await rows.queue({ input: 'store this' });
  await run(id);
  expect(await rows.read(id)).toMatchObject({
    status: 'completed',
    output: 'Answer to: store this',
    finish_reason: 'stop',
    tokens_input: 3,
    tokens_output: 6,
    attempts: 1,
    answered: true,
  });
  expect(Number((await rows.read(id)).cost_amount)).toBeGreaterThan(0);
});

test('a stored answer is never paid for again', async () => {
  const id = await rows.queue({ input: 'only once' });
  await run(id);
  // As after a completion that never reached Temporal.
  await run(id, attempt(2));
  expect(openai.countBy('only once')).toBe(1);
  await expect(record(id)).resolves.toBe('completed');
  await expect(record(id)).resolves.toBe('completed');
  await run(id, attempt(3));
  expect(openai.countBy('only once')).toBe(1);
  expect(await rows.events(id)).toEqual(['execution.completed']);
});

test('the process that started an execution is notified that its call begins, unless it makes the call itself', async () => {
  const listener = openListener(database.url, log);
  await until('the listener', async () => listener.connected());
  try {
    const told: string[] = [];
    listener.on(CHANNELS.executionBegun, (id) => told.push(id));
    const [here, elsewhere] = [await rows.queue({ input: 'here' }), await rows.queue({ input: 'elsewhere' })];
    const startLimiter = { callBegan: (id: string) => id === here, untilQuiet: async () => {} };
    const notifying = testExecutionActivities({ db, models, startLimiter });
    for (const id of [here, elsewhere])
      await attempt().run((row: string) => notifying.callModel(row, 'ws_test', 100), id);
    // Notifications arrive in the order of their transactions.
    await until('the notification', async () => told.length > 0);
    expect(told).toEqual([elsewhere]);
  } finally {
    await listener.close();
  }
});

test('an execution ends before its step does, which leaves time to starts', async () => {
  const id = await rows.queue({ input: 'ends' });
  const { promise: quiet, resolve: becomeQuiet } = Promise.withResolvers<void>();
  const leaving = testExecutionActivities({
    db,
    models,
    startLimiter: { callBegan: () => true, untilQuiet: () => quiet },
  });
  const step = attempt().run((row: string) => leaving.callModel(row, 'ws_test', 100), id);
  await until('its end', async () => (await rows.events(id)).includes('execution.completed'));
  becomeQuiet();
  expect(await step).toEqual({ status: 'completed' });
});

test('calls no model for a withdrawn or canceled execution', async () => {
  const canceled = await rows.queue({ input: 'canceled', status: 'canceled' });
  const withdrawn = await rows.queue({ input: 'withdrawn' });
  await rows.remove(withdrawn);
  await run(canceled);
  await run(withdrawn);
  expect(openai.countBy('canceled') + openai.countBy('withdrawn')).toBe(0);
  await expect(record(canceled)).resolves.toBe('canceled');
  await expect(record(withdrawn)).resolves.toBe('withdrawn');
  expect(await rows.events(canceled)).toEqual([]);
});

test('an attempt in the same process joins the call of an earlier one', async () => {
  openai.behave({ latencyMs: 500 });
  const id = await rows.queue({ input: 'join me' });
  const first = run(id);
  await until('the call', async () => openai.countBy('join me') === 1);
  await Promise.all([first, run(id, attempt(2)), run(id, attempt(3))]);
  expect(openai.countBy('join me')).toBe(1);
  expect(await rows.read(id)).toMatchObject({ output: 'Answer to: join me' });
});

test('a call runs to its end, whatever Temporal says about its step', async () => {
  openai.behave({ latencyMs: 500 });
  const id = await rows.queue({ input: 'lost' });
  const environment = attempt();
  const call = run(id, environment);
  await until('the call', async () => openai.countBy('lost') === 1);
  environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true });
});

test('the end of its row ends a call immediately, even if a later attempt joined', async () => {
  const listener = openListener(database.url, log);
  await until('the listener', async () => listener.connected());
  const listening = testExecutionActivities({ db, models, listener });
  openai.behave({ mode: 'stall' });
  const id = await rows.queue({ input: 'canceled in flight' });
  const call = (environment = attempt()) =>
    environment.run((row: string) => listening.callModel(row, 'ws_test', 100), id);
  const first = call();
  await until('the call', async () => openai.countBy('canceled in flight') === 1);
  const second = call(attempt(2));
  await listening.recordFailure(id, null);
  expect(await first).toEqual({ status: 'canceled' });
  await second;
  expect(openai.countBy('canceled in flight')).toBe(1);
  expect(await rows.read(id)).toMatchObject({ status: 'canceled', answered: false });
  await listener.close();
});

test('a missed end is found when the listener is back', async () => {
  let reconnected = () => {};
  const listener: Listener = { ...deaf, onReconnected: (callback) => (reconnected = callback) };
  const listening = testExecutionActivities({ db, models, listener });
  openai.behave({ mode: 'stall' });
  const id = await rows.queue({ input: 'canceled unheard' });
  const call = attempt().run((row: string) => listening.callModel(row, 'ws_test', 100), id);
  await until('the call', async () => openai.countBy('canceled unheard') === 1);
  await listening.recordFailure(id, null);
  reconnected();
  expect(await call).toEqual({ status: 'canceled' });
});

test('a cancellation notified before the call was in flight ends it with the workflow task', async () => {
  openai.behave({ mode: 'stall' });
  const id = await rows.queue({ input: 'canceled too early' });
  const call = run(id);
  await until('the call', async () => openai.countBy('canceled too early') === 1);
  // Done by the API: nothing here is notified.
  await failExecution(db.system.query, id, null);
  expect(await activities.recordFailure(id, null)).toBe('canceled');
  expect(await call).toEqual({ status: 'canceled' });
});

test('a stopping worker begins no call, and gives up calls in flight when time is up', async () => {
  const [stopping, graceOver] = [new AbortController(), new AbortController()];
  const ending = testExecutionActivities({
    db,
    models,
    stopping: stopping.signal,
    graceOver: graceOver.signal,
  });
  const call = (id: string) => failureOf(attempt().run((row: string) => ending.callModel(row, 'ws_test', 100), id));
  openai.behave({ mode: 'stall' });
  const [begun = '', late = ''] = await Promise.all(['begun', 'late'].map((input) => rows.queue({ input })));
  const inFlight = call(begun);
  await until('the call', async () => openai.countBy('begun') === 1);
  stopping.abort();
  expect(await call(late)).toMatchObject({ message: 'This worker is stopping; another one makes the call.' });
  expect(await rows.read(late)).toMatchObject({ status: 'queued', attempts: 0 });
  graceOver.abort();
  expect(await inFlight).toMatchObject({ name: 'AbortError' });
  expect(await rows.read(begun)).toMatchObject({ status: 'running', answered: false });
});

test('a Retry-After sets the wait before the next attempt; beyond an hour there is no attempt', async () => {
  const id = await rows.queue({ input: 'too many' });
  openai.behave({ mode: 'fail', status: 429, headers: { 'retry-after': '1800' } });
  expect(await failureOf(run(id))).toMatchObject({
    type: 'model_rate_limited',
    nonRetryable: false,
    details: [{ retryInMs: 1_800_000 }],
  });
  openai.behave({ mode: 'fail', status: 429, headers: { 'retry-after': '7200' } });
  expect(await failureOf(run(id, attempt(2)))).toMatchObject({ nonRetryable: true });
});

test('gives up on a failing model after five attempts, or immediately if none helps', async () => {
  const id = await rows.queue({ input: 'never answered' });
  openai.behave({ mode: 'fail', status: 503 });
  for (let number = 1; number <= 4; number++)
    expect(await failureOf(run(id, attempt(number)))).toMatchObject({ type: 'model_unavailable', nonRetryable: false });
  const last = await failureOf(run(id, attempt(5)));
  expect(last).toBeInstanceOf(ApplicationFailure);
  expect(last).toMatchObject({ type: 'model_unavailable', nonRetryable: true });
  openai.behave({ mode: 'fail', status: 401 });
  const other = await rows.queue({ input: 'no key' });
  expect(await failureOf(run(other))).toMatchObject({ type: 'model_authentication', nonRetryable: true });
});

test('whatever fails or is forgotten, the model is called five times at most', async () => {
  const id = await rows.queue({ input: 'often' });
  openai.behave({ mode: 'fail', status: 503 });
  // As if Temporal had lost its state, and counted from 1 again.
  for (let number = 1; number <= 8; number++) await failureOf(run(id));
  expect(openai.countBy('often')).toBe(5);
  expect(await failureOf(run(id))).toMatchObject({ type: 'model_unavailable', nonRetryable: true });
  expect(await rows.read(id)).toMatchObject({ attempts: 5, status: 'running' });
});

test('an answer that the database refuses for good fails the run, with its cost', async () => {
  await db.system.query({
    text: `alter table executions add constraint refused check (output <> 'Answer to: refuse this')`,
  });
  const id = await rows.queue({ input: 'refuse this' });
  const failure = await failureOf(run(id));
  expect(failure).toMatchObject({ type: 'model_unavailable', nonRetryable: true });
  await activities.recordFailure(id, { code: 'model_unavailable', message: 'refused' });
  const row = await rows.read(id);
  expect(row).toMatchObject({ status: 'failed', output: null, tokens_input: 3, paid_attempts: [1] });
  expect(Number(row.cost_amount)).toBeGreaterThan(0);
  expect(openai.countBy('refuse this')).toBe(1);
});

test('token counts beyond 32 bits are stored, and impossible counts are ignored', async () => {
  const counts: [number, number][] = [];
  const many = await startOpenAiServer({
    answer: ({ prompt }) => {
      const [input = 0, output = 0] = prompt.split(' ').map(Number);
      return { text: 'ok', finishReason: 'stop', usage: { input, output } };
    },
  });
  const others = modelsAt({ openai: many.baseUrl });
  const calls = testExecutionActivities({ db, models: others, modelTimeoutMs: 5_000 });
  for (const input of ['3000000000 7', '9007199254740991 9007199254740991', '1e300 1']) {
    const id = await rows.queue({ input });
    await attempt().run((row: string) => calls.callModel(row, 'ws_test', 100), id);
    const row = await rows.read(id);
    expect(row).toMatchObject({ status: 'completed', attempts: 1 });
    counts.push([Number(row.tokens_input), Number(row.tokens_output)]);
  }
  expect(counts).toEqual([
    [3_000_000_000, 7],
    [0, 0],
    [0, 0],
  ]);
  await others.close();
  await many.close();
});

test('if two workers paid for the same call, the first answer stays and both costs are reported', async () => {
  const id = await rows.queue({ input: 'twice' });
  const frozen = testExecutionActivities({ db, models });
  openai.behave({ latencyMs: 300 });
  // Neither knows of the other, as if one was presumed dead.
  await Promise.all([run(id), attempt(2).run((row: string) => frozen.callModel(row, 'ws_test', 100), id)]);
  expect(openai.countBy('twice')).toBe(2);
  const once = await rows.queue({ input: 'twice' });
  await run(once);
  const [both, one] = [await rows.read(id), await rows.read(once)];
  expect(both).toMatchObject({ status: 'completed', output: 'Answer to: twice', attempts: 2 });
  expect(Number(both.tokens_input)).toBe(2 * Number(one.tokens_input));
  expect(Number(both.cost_amount)).toBeCloseTo(2 * Number(one.cost_amount), 12);
  expect(await rows.events(id)).toEqual(['execution.completed']);
});

test('storing an answer again after a lost database response adds nothing', async () => {
  const id = await rows.queue({ status: 'running' });
  const answer = {
    output: 'stored',
    finishReason: 'stop' as const,
    tokens: { input: 10, output: 5, cached_input: 0, reasoning: 0, total: 15 },
    cost: { amount: '0.25', currency: 'USD' as const, pricing: null },
    toolCalls: [],
    modelMs: 1,
    providerModel: null,
  };
  for (let time = 0; time < 3; time++) await storeResponse(db.system.query, id, 1, answer);
  await storeResponse(db.system.query, id, 2, { ...answer, output: 'late' });
  expect(await rows.read(id)).toMatchObject({ output: 'stored', cost_amount: '0.50', paid_attempts: [1, 2] });
  expect(await rows.events(id)).toEqual(['execution.completed']);
});

test('an execution not reported to a caller in time is withdrawn', async () => {
  const late = await rows.queue({ input: 'too late', accepted: false, ageSeconds: 31 });
  const early = await rows.queue({ input: 'in time', accepted: false, ageSeconds: 5 });
  const accepted = await rows.queue({ input: 'accepted', ageSeconds: 3_600 });
  for (const id of [late, early, accepted]) await run(id);
  await expect(record(late)).resolves.toBe('withdrawn');
  expect(['too late', 'in time', 'accepted'].map((input) => openai.countBy(input))).toEqual([0, 1, 1]);
});

test('records the billed cost of an answer the provider withheld', async () => {
  const filtered = await startOpenAiServer({
    answer: () => ({ text: '', finishReason: 'content_filter', usage: { input: 120, output: 7 } }),
  });
  const withheld = modelsAt({ openai: filtered.baseUrl });
  const others = testExecutionActivities({ db, models: withheld, modelTimeoutMs: 5_000 });
  const id = await rows.queue({ input: 'filtered' });
  const failure = await failureOf(attempt().run((row: string) => others.callModel(row, 'ws_test', 100), id));
  expect(failure).toMatchObject({ type: 'content_filtered', nonRetryable: true });
  await others.recordFailure(id, { code: 'content_filtered', message: 'withheld' });
  expect(await rows.read(id)).toMatchObject({
    status: 'failed',
    error: { code: 'content_filtered', message: 'withheld' },
    tokens_input: 120,
    tokens_output: 7,
  });
  expect(Number((await rows.read(id)).cost_amount)).toBeGreaterThan(0);
  expect(await rows.events(id)).toEqual(['execution.failed']);
  await withheld.close();
  await filtered.close();
});

test('a call without a free slot is deferred before it counts, and delays no other workspace', async () => {
  const slots = testSlots({ workspaceConcurrency: 1 });
  const narrow = testExecutionActivities({ db, models, slots });
  const callIn = (workspace: string, id: string) =>
    attempt().run((row: string) => narrow.callModel(row, workspace, 100), id);
  openai.behave({ latencyMs: 500 });
  const inputs = ['first of a', 'second of a', 'first of b'];
  const [first = '', second = '', third = ''] = await Promise.all(inputs.map((input) => rows.queue({ input })));
  const running = callIn('ws_a', first);
  await until('the first call to have its place', async () => slots.calls.inUse('ws_a') === 1);
  expect(await callIn('ws_a', second)).toEqual({ heldBackMs: expect.any(Number) });
  expect(await rows.read(second)).toMatchObject({ status: 'queued', attempts: 0 });
  expect(await callIn('ws_b', third)).toEqual({ status: 'completed' });
  await running;
  await until('the place to be kept for the second', async () => slots.calls.waiting('ws_a') === 0);
  expect(await callIn('ws_a', second)).toEqual({ status: 'completed' });
  expect(await rows.read(second)).toMatchObject({ attempts: 1 });
});
