import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from '../api/evaluations/evaluations-support.ts';
import { AT_FULL_SIZE } from '../support/hostile-stage.ts';

/** 1,000 tokens of input and 1,000 of output of gpt-4o-mini. */
const CALL_USD = 0.00075;
/** A million tokens of output: two thousand times as many as are expected. */
const DEAR_USD = 0.6;
const CONCURRENCY = 20;
const EXAMPLES = AT_FULL_SIZE ? 1_000 : 200;
const CAP_USD = (EXAMPLES / 4) * CALL_USD;

let stage: EvaluationStage;
beforeAll(async () => {
  const usageOf = (prompt: string) => ({ input: 1_000, output: prompt.includes('dear') ? 1_000_000 : 1_000 });
  stage = await startStage({
    answer: ({ prompt }) => ({
      text: prompt.includes('Rubric') ? '{"score": 1}' : `Answer to: ${prompt}`,
      usage: usageOf(prompt),
    }),
  });
});
afterAll(() => stage?.stop());

test.each([
  ['every cost is known', {}],
  ['every third answer hides what it has cost', { hideUsageEvery: 3 }],
])('a cap is used and kept if %s', async (what, behaviour) => {
  stage.openai.behave(behaviour);
  const before = stage.openai.callCount;
  const id = await stage.begin({
    examples: examplesOf(what, EXAMPLES),
    concurrency: CONCURRENCY,
    max_cost: CAP_USD.toFixed(6),
  });
  await stage.until(id, 'paused');
  const calls = stage.openai.callCount - before;
  const share = (calls * CALL_USD) / CAP_USD;
  if (AT_FULL_SIZE)
    process.stderr.write(`${what}: ${calls} calls, ${(share * 100).toFixed(1)} % of the cap, as the provider counts\n`);
  expect(share).toBeGreaterThanOrEqual(0.9);
  expect(calls * CALL_USD).toBeLessThanOrEqual(CAP_USD + CONCURRENCY * CALL_USD);
});

test('a run whose answers never have a cost stops, too', async () => {
  stage.openai.behave({ hideUsageEvery: 1 });
  const before = stage.openai.callCount;
  const id = await stage.begin({
    examples: examplesOf('never told', EXAMPLES),
    concurrency: CONCURRENCY,
    max_cost: CAP_USD.toFixed(6),
  });
  await stage.until(id, 'paused');
  expect(stage.openai.callCount - before).toBeLessThan(EXAMPLES);
});

test.each([1, CONCURRENCY, 200])(
  'a cap for three calls is exceeded by less than one, though each costs thousands of times the estimate, %d at a time',
  async (concurrency) => {
    stage.openai.behave();
    const before = stage.openai.callCount;
    const examples = examplesOf(`dear ${concurrency}`, EXAMPLES);
    await stage.until(await stage.begin({ examples, concurrency, max_cost: 2 }), 'paused');
    expect((stage.openai.callCount - before) * DEAR_USD).toBeLessThan(2 + DEAR_USD);
  },
);
