import { expect, test } from '@jest/globals';
import { BatchBudget } from '../../src/activities/batch-budget.ts';

test('sets aside what an example is expected to cost, and no more than there is', () => {
  const budget = new BatchBudget(1, 0, 0.4);
  expect(budget.reserve()).toBe(0.4);
  expect(budget.reserve()).toBe(0.4);
  expect(budget.reserve()).toBeUndefined();
});

test('what was set aside and not spent comes back', () => {
  const budget = new BatchBudget(1, 0, 0.6);
  budget.settle(budget.reserve() ?? 0, 0.1);
  expect(budget.reserve()).toBe(0.6);
});

test('the dearest example so far is what the next is expected to cost', () => {
  const budget = new BatchBudget(1, 0, 0.1);
  budget.settle(budget.reserve() ?? 0, 0.5);
  expect(budget.reserve()).toBe(0.5);
  expect(budget.reserve()).toBeUndefined();
});

test('what the batch had cost before counts', () => {
  expect(new BatchBudget(1, 0.95, 0.1).reserve()).toBeUndefined();
});

test('without a limit there is always money', () => {
  const budget = new BatchBudget(null, 1e9, 1e9);
  for (let example = 0; example < 100; example++) expect(budget.reserve()).toBe(1e9);
});
