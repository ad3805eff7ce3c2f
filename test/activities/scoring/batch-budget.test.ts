import { describe, expect, test } from '@jest/globals';
import { BatchBudget, type BatchBudgetOptions, firstEstimate } from '../../../src/activities/scoring/batch-budget.ts';
import { guessCost, observeCost } from '../../../src/domain/evaluations/cost-estimate.ts';

const budgetOf = (limitUsd: number | null, guessUsd: number, options: Partial<BatchBudgetOptions> = {}) =>
  new BatchBudget({ limitUsd, spentUsd: 0, estimate: guessCost(guessUsd), isAllThereIs: true, ...options });
const known = (knownCostUsd: number) => ({ knownCostUsd, unknownShare: 0 });

/** This many examples have cost the same. */
const seenOf = (usd: number, examples: number) => ({ meanUsd: usd, deviationUsd: 0, examples });

test('sets aside the expected cost of an example, but no more than is left', () => {
  const budget = budgetOf(1, 0.4, { estimate: seenOf(0.4, 40) });
  expect([budget.reserve(), budget.reserve(), budget.reserve()]).toEqual([0.4, 0.4, undefined]);
});

describe('with a small budget', () => {
  /** Reserves until no more may start. */
  const begin = (budget: BatchBudget) => {
    let begun = 0;
    while (budget.reserve() !== undefined) begun += 1;
    return begun;
  };

  test('one example begins before a cost is known, then twice as many each wave', () => {
    const budget = budgetOf(1, 0.001);
    const waves = [1, 2, 3, 4].map(() => {
      const begun = begin(budget);
      for (let example = 0; example < begun; example++) budget.settle(0.001, known(0.001));
      return begun;
    });
    expect(waves).toEqual([1, 2, 4, 8]);
  });

  test('calls of unknown cost count as seen, examples without a bill do not', () => {
    const budget = budgetOf(1, 0.001);
    budget.settle(budget.reserve() ?? 0, undefined);
    expect(begin(budget)).toBe(1);
    budget.settle(0.001, { knownCostUsd: 0, unknownShare: 1 });
    expect(begin(budget)).toBe(2);
  });

  test('free answers count as seen, but do not show the cost of the most expensive model', () => {
    const budget = budgetOf(1, 0.001);
    budget.settle(budget.reserve() ?? 0, { knownCostUsd: 0, unknownShare: 0, ratioToMostExpensive: null });
    expect(begin(budget)).toBe(2);
  });

  test('does not hold back free calls', () => {
    expect([budgetOf(1, 0).window, budgetOf(0, 0).window]).toEqual([Infinity, Infinity]);
  });

  test('the larger it is, the more examples begin at first', () => {
    expect(begin(budgetOf(50, 0.001))).toBe(5);
  });
});

test('money set aside but not spent comes back', () => {
  const budget = budgetOf(1, 0.6);
  budget.settle(budget.reserve() ?? 0, undefined);
  expect(budget.reserve()).toBe(0.6);
});

test('the amount set aside follows example costs, up and down', () => {
  const budget = budgetOf(1_000, 0.1);
  for (let example = 0; example < 40; example++) budget.settle(budget.reserve() ?? 0, known(2));
  expect(budget.reserve()).toBeCloseTo(2, 1);
  for (let example = 0; example < 400; example++) budget.settle(budget.reserve() ?? 0, known(0.01));
  expect(budget.reserve()).toBeCloseTo(0.01, 3);
});

test('earlier costs of the batch count', () => {
  expect(budgetOf(1, 0.1, { spentUsd: 0.95, isAllThereIs: false }).reserve()).toBeUndefined();
});

test('without a limit there is always money', () => {
  const budget = budgetOf(null, 1e9, { spentUsd: 1e9 });
  for (let example = 0; example < 100; example++) expect(budget.reserve()).toBe(1e9);
});

test('a call of unknown cost counts as what was set aside for it, and does not change what the next is expected to cost', () => {
  const budget = budgetOf(1, 0.3);
  for (let example = 0; example < 3; example++) {
    expect(budget.reserve()).toBeCloseTo(0.3, 9);
    budget.settle(0.3, { knownCostUsd: 0, unknownShare: 1 });
    expect(budget.estimate.meanUsd).toBeCloseTo(0.3, 9);
  }
  expect(budget.reserve()).toBeUndefined();
});

test('if an example has a judge, only its call of unknown cost counts as its share', () => {
  const budget = budgetOf(1, 0.5);
  budget.settle(budget.reserve() ?? 0, { knownCostUsd: 0.1, unknownShare: 0.4 });
  expect(budget.estimate.meanUsd).toBeCloseTo(0.1 + 0.4 * 0.5, 9);
});

describe('with fallback models', () => {
  test('the amount set aside covers the most expensive, whichever responded', () => {
    const budget = budgetOf(100, 8);
    for (let example = 0; example < 400; example++) {
      const cost =
        example % 2 === 0
          ? { knownCostUsd: 0.01, ratioToMostExpensive: 8 }
          : { knownCostUsd: 0.08, ratioToMostExpensive: 1 };
      budget.settle(budget.reserve() ?? 0, { unknownShare: 0, ...cost });
    }
    expect(budget.estimate.meanUsd).toBeCloseTo(0.08, 9);
    expect(budget.reserve()).toBeCloseTo(0.08, 3);
    expect(budget.spentUsd).toBeCloseTo(18, 9);
  });

  test('a free answer says nothing about the most expensive one', () => {
    const budget = budgetOf(100, 5);
    for (let example = 0; example < 10; example++)
      budget.settle(budget.reserve() ?? 0, { knownCostUsd: 0, unknownShare: 0, ratioToMostExpensive: null });
    expect(budget.reserve()).toBe(5);
  });
});

describe('the last of the money', () => {
  test('is tried with one example, however high its guessed cost', () => {
    const budget = budgetOf(0.1, 5);
    expect(budget.reserve()).toBe(5);
    expect(budget.reserve()).toBeUndefined();
  });

  test('is used without a margin, one example at a time', () => {
    const estimate = observeCost(observeCost(guessCost(1), 0.2), 0.4);
    const budget = budgetOf(0.35, 1, { estimate });
    expect(budget.reserve()).toBeCloseTo(0.3, 9);
    expect(budget.reserve()).toBeUndefined();
    budget.settle(0.3, known(0.3));
    expect(budget.reserve()).toBeUndefined();
  });

  test('goes to a batch that holds all of it', () => {
    expect(budgetOf(0.1, 5, { isAllThereIs: false }).reserve()).toBeUndefined();
  });
});

test('begins with the costs seen by the run or the batch before', () => {
  const seen = observeCost(guessCost(1), 0.7);
  expect(firstEstimate(seen, { costUsd: 3, examples: 3 }, 9)).toBe(seen);
  expect(firstEstimate(undefined, { costUsd: 3, examples: 6 }, 9)).toMatchObject({ meanUsd: 0.5, examples: 6 });
  expect(firstEstimate(undefined, { costUsd: 0, examples: 0 }, 9)).toMatchObject({ meanUsd: 9, examples: 0 });
});
