import { expect, test } from '@jest/globals';
import { batchRange, planEvaluation } from '../../../src/domain/evaluations/evaluation-plan.ts';

const SIZES = [0, 1, 2, 3, 24, 25, 26, 99, 1_000, 1_001, 12_345, 100_000];
const CONCURRENCIES = [1, 2, 7, 20, 25, 26, 50, 51, 100, 199, 200];
const all = SIZES.flatMap((examples) => CONCURRENCIES.map((concurrency) => [examples, concurrency] as const));

test.each(all)('%d examples, %d at a time: every example is in one batch', (examples, concurrency) => {
  const plan = planEvaluation(examples, concurrency);
  let next = 0;
  for (let batch = 0; batch < plan.batches; batch++) {
    const { from, to } = batchRange(plan, batch, examples);
    expect(from).toBe(next);
    expect(to).toBeGreaterThan(from);
    next = to;
  }
  expect(next).toBe(examples);
});

test.each(all)('%d examples, %d at a time: the lanes keep that many in flight', (examples, concurrency) => {
  const { lanes } = planEvaluation(examples, concurrency);
  for (const lane of lanes) expect(lane).toBeGreaterThanOrEqual(1);
  const sum = lanes.reduce((total, lane) => total + lane, 0);
  expect(sum).toBeLessThanOrEqual(concurrency);
  if (examples >= concurrency) expect(sum).toBe(concurrency);
});
