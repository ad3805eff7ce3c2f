import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { CallOutcome, ExecutionActivities } from '../../../src/activities/execute-prompt/execution.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import type { StoredCall } from '../../../src/db/entities/execution.ts';
import type { ClosableModels } from '../../../src/models/model.ts';
import { callEnd } from '../../../src/services/executions/run/calls.ts';
import { claimExecution } from '../../../src/services/executions/run/claim-execution.ts';
import { failExecution } from '../../../src/services/executions/run/end-execution.ts';
import { fallBack } from '../../../src/services/executions/run/fall-back.ts';
import { endCall, storeResponse } from '../../../src/services/executions/run/store-response.ts';
import { createTestDatabase } from '../../support/database.ts';
import { testExecutionActivities } from '../../support/execution-activities.ts';
import { type ExecutionRows, executionRows } from '../../support/processes-rows.ts';
import { startAnthropicServer } from '../../support/providers/anthropic.ts';
import { modelsAt } from '../../support/providers/models.ts';
import { startOpenAiServer } from '../../support/providers/openai.ts';
import type { StandIn } from '../../support/providers/stand-in.ts';
import { until } from '../../support/wait-for.ts';

const FIRST = 'openai/gpt-4o-mini';
const SECOND = 'anthropic/claude-haiku-4-5';
/** Has no credentials. */
const CLOSED = 'google/gemini-2.5-flash';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let openai: StandIn;
let anthropic: StandIn;
let models: ClosableModels;
let rows: ExecutionRows;
let activities: ExecutionActivities;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  openai = await startOpenAiServer();
  anthropic = await startAnthropicServer();
  models = modelsAt({ openai: openai.baseUrl, anthropic: anthropic.baseUrl });
  rows = await executionRows(db);
  activities = testExecutionActivities({ db, models });
});
afterEach(() => {
  openai.behave();
  anthropic.behave();
});
afterAll(async () => {
  await models?.close();
  await openai?.close();
  await anthropic?.close();
  await db?.close();
  await database?.drop();
});

const RESPONSE = {
  output: 'late',
  toolCalls: [{ id: 'call_1', name: 'look_up', input: { key: 'a' } }],
  finishReason: 'stop' as const,
  tokens: { input: 10, output: 5, cached_input: 0, reasoning: 0, total: 15 },
  cost: { amount: '0.25', currency: 'USD' as const, pricing: null },
  modelMs: 7,
  providerModel: null,
};

const logger = new DefaultLogger('ERROR', () => {});
const callOnce = (id: string): Promise<CallOutcome | null> =>
  new MockActivityEnvironment({}, { logger }).run((row: string) => activities.callModel(row, 'ws_test', 100), id);
const claim = (id: string) => claimExecution(db.system.query, id, { mayBeSuspect: true });

/** As the workflow does, without its waits. @returns how the step ended that ended the run */
async function callToEnd(id: string): Promise<unknown> {
  for (;;) {
    try {
      const outcome = await callOnce(id);
      if (outcome === null || !('fallback' in outcome)) return outcome;
    } catch (error) {
      if (error instanceof Error && 'nonRetryable' in error && error.nonRetryable === true) return error;
    }
  }
}

async function callsOf(id: string): Promise<StoredCall[]> {
  return (await rows.read(id))['calls'] as StoredCall[];
}
/** The model and the error code of each call. */
async function courseOf(id: string): Promise<[string, string | null][]> {
  return (await callsOf(id)).map(({ model, error }) => [model, error?.code ?? null]);
}

test('every call is recorded with its usage and cost, and failed calls are counted', async () => {
  openai.behave({ mode: 'fail', status: 503, times: 2 });
  const id = await rows.queue({ input: 'recorded' });
  expect(await callToEnd(id)).toEqual({ status: 'completed' });
  const failed = {
    model: FIRST,
    started_at: expect.any(String),
    duration_ms: expect.any(Number),
    tokens: null,
    cost: null,
    error: { code: 'model_unavailable', message: expect.stringContaining('503') },
  };
  const { calls, cost_amount: cost, ...row } = await rows.read(id);
  const tokens = { input: 2, output: 5, cached_input: 0, reasoning: 0, total: 7 };
  expect(calls).toEqual([failed, failed, { ...failed, tokens, cost, error: null }]);
  expect(row).toMatchObject({ attempts: 3, model: FIRST, tokens_input: 2, tokens_output: 5 });
});

test('a call in flight is without an end', async () => {
  const id = await rows.queue({ input: 'in flight' });
  await claim(id);
  expect(await callsOf(id)).toEqual([{ model: FIRST, started_at: expect.any(String) }]);
});

test.each([
  ['401', 401, 'model_authentication'],
  ['404', 404, 'model_not_found'],
])('a model that responds %s is left at once, and the next responds', async (_, status, code) => {
  openai.behave({ mode: 'fail', status });
  const id = await rows.queue({ input: `left for ${status}`, fallbackModels: [SECOND] });
  expect(await callOnce(id)).toEqual({ fallback: SECOND, because: expect.stringContaining(`${code}: `) });
  expect(await callOnce(id)).toEqual({ status: 'completed' });
  expect(await courseOf(id)).toEqual([
    [FIRST, code],
    [SECOND, null],
  ]);
  const row = await rows.read(id);
  expect(row).toMatchObject({ model: SECOND, provider: 'anthropic', fallback_models: [], attempts: 2 });
  expect(row['pricing']).toMatchObject({ model: expect.stringContaining('claude') });
});

test('so is one with no credentials', async () => {
  const id = await rows.queue({ input: 'no key', model: CLOSED, fallbackModels: [SECOND] });
  expect(await callToEnd(id)).toEqual({ status: 'completed' });
  expect(await courseOf(id)).toEqual([
    [CLOSED, 'model_authentication'],
    [SECOND, null],
  ]);
});

test('an unavailable model is called five times, then the next one, then none', async () => {
  openai.behave({ mode: 'fail', status: 503 });
  anthropic.behave({ mode: 'fail', status: 429, headers: { 'retry-after': '1' } });
  const id = await rows.queue({ input: 'all of them', fallbackModels: [SECOND] });
  expect(await callToEnd(id)).toMatchObject({ type: 'model_rate_limited', nonRetryable: true });
  expect(openai.countBy('all of them')).toBe(5);
  expect(anthropic.countBy('all of them')).toBe(5);
  expect(await courseOf(id)).toEqual([
    ...Array(5).fill([FIRST, 'model_unavailable']),
    ...Array(5).fill([SECOND, 'model_rate_limited']),
  ]);
  // As if Temporal had lost its state.
  expect(await callToEnd(id)).toMatchObject({ type: 'model_unavailable', nonRetryable: true });
  expect(anthropic.countBy('all of them')).toBe(5);
});

test('the waits before retries restart with each model', async () => {
  openai.behave({ mode: 'fail', status: 401 });
  anthropic.behave({ mode: 'fail', status: 503 });
  const id = await rows.queue({ input: 'waits', fallbackModels: [SECOND] });
  await callOnce(id);
  await expect(callOnce(id)).rejects.toMatchObject({ details: [{ retryInMs: 1_000 }] });
  await expect(callOnce(id)).rejects.toMatchObject({ details: [{ retryInMs: 2_000 }] });
});

test('a refusal and a call that no model accepts end the chain', async () => {
  openai.behave({ mode: 'fail', status: 400 });
  const id = await rows.queue({ input: 'bad request', fallbackModels: [SECOND] });
  expect(await callToEnd(id)).toMatchObject({ type: 'model_invalid_request' });
  const filtered = await startOpenAiServer({
    answer: () => ({ text: '', finishReason: 'content_filter', usage: { input: 120, output: 7 } }),
  });
  const withheld = modelsAt({ openai: filtered.baseUrl, anthropic: anthropic.baseUrl });
  const refused = await rows.queue({ input: 'refused', fallbackModels: [SECOND] });
  const others = testExecutionActivities({ db, models: withheld });
  const call = new MockActivityEnvironment({}, { logger }).run(() => others.callModel(refused, 'ws_test', 100));
  await expect(call).rejects.toMatchObject({ type: 'content_filtered', nonRetryable: true });
  const { calls, cost_amount: cost } = await rows.read(refused);
  expect(calls).toMatchObject([{ tokens: { input: 120, output: 7 }, cost, error: { code: 'content_filtered' } }]);
  expect(anthropic.countBy('bad request') + anthropic.countBy('refused')).toBe(0);
  await withheld.close();
  await filtered.close();
});

test('a call whose worker died is recorded as lost when the next begins', async () => {
  const id = await rows.queue({ input: 'lost once' });
  await claim(id);
  expect(await callToEnd(id)).toEqual({ status: 'completed' });
  expect(await callsOf(id)).toMatchObject([
    { model: FIRST, duration_ms: null, cost: null, error: { message: expect.stringContaining('The worker stopped') } },
    { model: FIRST, error: null },
  ]);
});

test('a model whose last call was lost is followed by the next', async () => {
  const id = await rows.queue({ input: 'lost often', fallbackModels: [SECOND] });
  const end = callEnd(5, null, { code: 'model_timeout', message: 'late' });
  for (let number = 1; number <= 5; number++) {
    await claim(id);
    if (number < 5) await endCall(db.system.query, id, number, undefined, end);
  }
  expect(await callOnce(id)).toEqual({ fallback: SECOND, because: expect.stringContaining('5 calls') });
  expect(await callOnce(id)).toEqual({ status: 'completed' });
  expect(openai.countBy('lost often')).toBe(0);
  const timedOut = Array(4).fill([FIRST, 'model_timeout']);
  expect(await courseOf(id)).toEqual([...timedOut, [FIRST, 'model_unavailable'], [SECOND, null]]);
});

test('calls during which two processes ended are made one at a time, and not again after a third end', async () => {
  const [one, two, poison] = await Promise.all(['one', 'two', 'poison'].map((input) => rows.queue({ input })));
  for (const id of [one, two, poison]) for (let number = 1; number <= 2; number++) await claim(id ?? '');
  openai.behave({ mode: 'hold' });
  const first = callOnce(one ?? '');
  await until('the call is made', async () => openai.countBy('one') === 1);
  expect(await callOnce(two ?? '')).toEqual({ heldBackMs: expect.any(Number) });
  openai.behave();
  expect(await first).toEqual({ status: 'completed' });
  expect(await callOnce(two ?? '')).toEqual({ status: 'completed' });

  await claim(poison ?? '');
  await expect(callOnce(poison ?? '')).rejects.toMatchObject({ type: 'process_ended', nonRetryable: true });
  expect(openai.countBy('poison')).toBe(0);
});

test('moving on again after a lost database response skips no model', async () => {
  const id = await rows.queue({ input: 'moved once', fallbackModels: [SECOND, CLOSED] });
  await claim(id);
  const end = callEnd(5, null, { code: 'model_timeout', message: 'late' });
  for (let time = 0; time < 3; time++) await fallBack(db.system.query, id, 1, end);
  expect(await rows.read(id)).toMatchObject({ model: SECOND, fallback_models: [CLOSED], model_attempts: 0 });
  await claim(id);
  // A worker that was presumed dead.
  await fallBack(db.system.query, id, 1, end);
  expect(await rows.read(id)).toMatchObject({ model: SECOND, fallback_models: [CLOSED], model_attempts: 1 });
});

test('a late response of a presumed dead worker belongs to the model that it called', async () => {
  const id = await rows.queue({ input: 'thawed', fallbackModels: [SECOND] });
  const end = callEnd(5, null, { code: 'model_timeout', message: 'late' });
  for (let number = 1; number <= 5; number++) {
    await claim(id);
    if (number > 1) await endCall(db.system.query, id, number, undefined, end);
  }
  expect(await claim(id)).toEqual({ fallback: SECOND });
  await claim(id);
  await storeResponse(db.system.query, id, 1, RESPONSE);
  expect(await rows.read(id)).toMatchObject({
    status: 'completed',
    model: FIRST,
    provider: 'openai',
    cost_amount: '0.25',
  });
  expect((await callsOf(id))[0]).toMatchObject({ cost: '0.25', error: null });
  expect(await callOnce(id)).toBeNull();
});

test('a cancellation ends the call in flight; a late response is recorded with its cost', async () => {
  const id = await rows.queue({ input: 'canceled' });
  await claim(id);
  await failExecution(db.system.query, id, null);
  expect(await callsOf(id)).toMatchObject([{ error: { code: 'canceled' }, cost: null }]);
  await storeResponse(db.system.query, id, 1, RESPONSE);
  expect(await rows.read(id)).toMatchObject({
    status: 'canceled',
    output: 'late',
    tool_calls: [{ id: 'call_1', name: 'look_up', input: { key: 'a' } }],
    calls: [{ duration_ms: 7, cost: '0.25', error: null }],
  });
});
