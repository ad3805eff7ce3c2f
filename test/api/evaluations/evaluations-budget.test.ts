import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from './evaluations-support.ts';

/** 1,000 input and 1,000 output tokens of gpt-4o-mini: 0.00015 + 0.0006 USD. */
const CALL_USD = 0.00075;
const USAGE = { input: 1_000, output: 1_000 };

let stage: EvaluationStage;
beforeAll(async () => {
  stage = await startStage({ answer: ({ prompt }) => ({ text: `Answer to: ${prompt}`, usage: USAGE }) });
});
afterAll(() => stage?.stop());
beforeEach(() => stage.openai.behave());

const callsMade = (name: string, count: number) =>
  examplesOf(name, count).reduce((sum, { variables }) => sum + stage.openai.countBy(`Say ${variables.text}`), 0);

describe('a budget', () => {
  test.each([
    [1, 40, 0.018],
    [20, 80, 0.03],
    [100, 160, 0.09],
  ])(
    'with %d at a time is exceeded only by the extra cost of the calls in flight',
    async (concurrency, count, budget) => {
      const name = `budget-${concurrency}`;
      const id = await stage.begin({ examples: examplesOf(name, count), concurrency, max_cost: budget });
      const paused = await stage.until(id, 'paused');
      expect(paused.status_reason).toContain(`max_cost, ${budget} USD, too little is left`);
      const spent = Number(paused.cost.amount);
      expect(spent).toBeCloseTo(callsMade(name, count) * CALL_USD, 9);
      expect(spent).toBeGreaterThan(0.75 * budget);
      // Expected at first: 500 tokens of output.
      expect(spent).toBeLessThanOrEqual(budget + concurrency * (CALL_USD - 0.0003) + 1e-9);
      const resumed = await stage.control(id, 'resume', { max_cost: 1 });
      expect(resumed.body).toMatchObject({ status: 'running', max_cost: '1' });
      const { score, cost } = await stage.until(id, 'completed');
      expect([score, Number(cost.amount)]).toEqual([0.75, expect.closeTo(count * CALL_USD, 9)]);
      expect(callsMade(name, count)).toBe(count);
    },
  );

  test('not above the spent amount is refused; null removes it', async () => {
    const id = await stage.begin({ examples: examplesOf('cap', 40), concurrency: 1, max_cost: 0.01 });
    const { cost } = await stage.until(id, 'paused');
    const refused = await stage.control(id, 'resume', { max_cost: cost.amount });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', details: [{ path: 'max_cost' }] } },
    });
    expect((await stage.control(id, 'resume', { max_cost: null })).body).toMatchObject({ max_cost: null });
    expect(await stage.until(id, 'completed')).toMatchObject({ examples_evaluated: 40 });
  });

  test('can be raised during the run, so that it need not pause', async () => {
    stage.openai.behave({ mode: 'hold' });
    const id = await stage.begin({ examples: examplesOf('raise', 40), concurrency: 4, max_cost: 0.02 });
    const raised = await stage.control(id, 'resume', { max_cost: 5 });
    expect(raised).toMatchObject({ status: 200, body: { max_cost: '5' } });
    stage.openai.behave();
    expect(await stage.until(id, 'completed', 'paused')).toMatchObject({
      status: 'completed',
      cost: { amount: '0.03' },
    });
    expect(await stage.control(id, 'resume', { max_cost: 9 })).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_state' } },
    });
  });

  test('applies to a retry together with the earlier spending', async () => {
    const id = await stage.begin({ examples: examplesOf('retried', 40), concurrency: 1 });
    const { workflow_id: workflowId } = await stage.until(id, 'completed');
    const { db, client } = stage.service.dependencies;
    // Its last step writes the sums once more.
    await client.workflow.getHandle(workflowId).result();
    const uuid = id.replace('eval_', '');
    // Half of the examples in each part failed after they were paid for.
    await db.system.query(
      {
        text: `update evaluation_results set status = 'failed', score = 0, output = null where evaluation_id = $1 and seq % 2 = 0`,
      },
      [uuid],
    );
    await db.system.query(
      { text: `update evaluations set max_cost = 0.033, summary = jsonb_set(summary, '{failed}', '20') where id = $1` },
      [uuid],
    );
    expect(await stage.control(id, 'retry')).toMatchObject({ status: 200, body: { status: 'running' } });
    const paused = await stage.until(id, 'paused', 'completed');
    expect(paused).toMatchObject({ status: 'paused', status_reason: expect.stringContaining('max_cost') });
    expect(Number(paused.cost.amount)).toBeLessThanOrEqual(0.033 + CALL_USD);
  });

  test('cannot be set if the model has no known price', async () => {
    await stage.prompt('unpriced', '{{ text }}', 'openai/gpt-4o-mini-of-tomorrow');
    const body = { prompt_name: 'unpriced', examples: examplesOf('unpriced', 1), start_at: '2099-01-01T00:00:00Z' };
    expect(await stage.create({ ...body, max_cost: 1 })).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'max_cost' }] } },
    });
    const id = await stage.begin(body);
    await stage.control(id, 'pause');
    expect(await stage.control(id, 'resume', { max_cost: 1 })).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'max_cost' }] } },
    });
    await stage.control(id, 'cancel');
  });
});

test.each([
  ['Retry-After', { rateLimitEvery: 3, retryAfter: '1' }],
  ['Retry-After of no time', { rateLimitEvery: 3, retryAfter: '0' }],
])('refusals of every third call with %s slow a run down but do not fail it', async (how, behaviour) => {
  const name = `limited ${how}`;
  stage.openai.behave(behaviour);
  const before = stage.openai.callCount;
  const id = await stage.begin({ examples: examplesOf(name, 8), concurrency: 4 });
  const run = await stage.until(id, 'completed');
  expect(run).toMatchObject({ examples_failed: 0, score: 0.75 });
  // Each answer costs at most one and a half calls, and those in flight at the first refusal.
  expect(stage.openai.callCount - before).toBeLessThanOrEqual(16);
});

test('a wait in milliseconds is kept, and nothing is sent meanwhile', async () => {
  // A separate model: the one of the previous tests is throttled because of its refusals.
  await stage.prompt('say', 'Say {{ text }}', 'openai/gpt-4o');
  stage.openai.behave({ mode: 'fail', status: 429, times: 1, headers: { 'retry-after-ms': '700' } });
  const before = stage.openai.calls.length;
  const run = await stage.run({ examples: examplesOf('in milliseconds', 3), concurrency: 1 });
  expect(run).toMatchObject({ examples_failed: 0 });
  const [refused, next] = stage.openai.calls.slice(before);
  expect((next?.at ?? 0) - (refused?.at ?? 0)).toBeGreaterThanOrEqual(690);
});

test('transient errors are not in the results', async () => {
  stage.openai.behave({ mode: 'fail', status: 503, times: 2 });
  const run = await stage.run({ examples: examplesOf('passing', 4), concurrency: 2 });
  expect(run).toMatchObject({ status: 'completed', examples_failed: 0, score: 0.75 });
  const attempts = (await stage.results(run.id)).map((row: { attempts: number }) => row.attempts);
  expect(attempts.toSorted()).toEqual([1, 1, 2, 2]);
});
