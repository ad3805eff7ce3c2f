import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EvaluationStage, examplesOf, startStage } from '../api/evaluations/evaluations-support.ts';
import { AT_FULL_SIZE } from '../support/hostile-stage.ts';

/** 1,000 tokens of input and 1,000 of output of gpt-4o-mini. */
const CALL_USD = 0.00075;
const CONCURRENCY = 20;
const EXAMPLES = AT_FULL_SIZE ? 1_000 : 200;
const CAP_USD = (EXAMPLES / 4) * CALL_USD;

let stage: EvaluationStage;
beforeAll(async () => {
  const usage = { input: 1_000, output: 1_000 };
  stage = await startStage({ answer: ({ prompt }) => ({ text: `Answer to: ${prompt}`, usage }) });
});
afterAll(() => stage?.stop());

test.each([
  ['every cost is known', {}],
  ['every third answer hides what it has cost', { hideUsageEvery: 3 }],
])('a cap is used and kept where %s', async (what, behaviour) => {
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

test('a run whose answers never tell what they have cost stops, too', async () => {
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
