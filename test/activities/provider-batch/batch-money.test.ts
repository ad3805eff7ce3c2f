import { describe, expect, test } from '@jest/globals';
import { BatchMoney, type BatchMoneyOptions } from '../../../src/activities/provider-batch/batch-money.ts';
import { guessCost } from '../../../src/domain/evaluations/cost-estimate.ts';

const moneyOf = (remainingUsd: number, options: Partial<BatchMoneyOptions> = {}) =>
  new BatchMoney({ remainingUsd, callsElsewhere: 0, known: guessCost(0), ...options });
const seenOf = (usd: number, examples: number) => ({ meanUsd: usd, deviationUsd: 0, examples });
/** Costs a thousandth as expected, and half a dollar at most. */
const CALL = { certainUsd: 0, expectedUsd: 0.001, mostUsd: 0.5 };

/** Adds up to a thousand calls. @returns how many there was money for */
function fill(money: BatchMoney, price = CALL): number {
  let calls = 0;
  while (calls < 1_000 && money.add(price)) calls += 1;
  return calls;
}

test('budgets paid calls at their maximum cost, and sets that aside', () => {
  const money = moneyOf(2);
  expect(fill(money)).toBe(4);
  expect(money.reservedUsd).toBe(2);
});

test('without a limit there is no end; the expected cost is set aside', () => {
  const money = moneyOf(Number.POSITIVE_INFINITY);
  expect(fill(money)).toBe(1_000);
  expect(money.reservedUsd).toBeCloseTo(1);
});

test('free calls are not held back', () => {
  expect(fill(moneyOf(0), { certainUsd: 0, expectedUsd: 0, mostUsd: 0 })).toBe(1_000);
});

describe('with less than calls can cost', () => {
  test('one call is tried if it is expected to fit, and no other', () => {
    expect(fill(moneyOf(0.4))).toBe(1);
    expect(fill(moneyOf(0.0005))).toBe(0);
    expect(fill(moneyOf(0.4, { callsElsewhere: 1 }))).toBe(0);
  });

  test('the next batch is the billed calls and one more, at their cost', () => {
    const money = moneyOf(0.4, { known: seenOf(0.01, 3) });
    expect(fill(money)).toBe(4);
    expect(money.reservedUsd).toBeCloseTo(0.04);
    expect(fill(moneyOf(0.4, { known: seenOf(0.01, 3), callsElsewhere: 3 }))).toBe(1);
    expect(fill(moneyOf(0.025, { known: seenOf(0.01, 100) }))).toBe(2);
  });

  test('a long input is budgeted, whatever short ones cost', () => {
    expect(fill(moneyOf(0.4, { known: seenOf(0.01, 100) }), { ...CALL, certainUsd: 0.09 })).toBe(4);
  });

  test('the rest of the money covers one call without a margin', () => {
    const known = { meanUsd: 0.3, deviationUsd: 0.1, examples: 5 };
    expect(fill(moneyOf(0.35, { known }))).toBe(1);
    expect(fill(moneyOf(0.25, { known }))).toBe(0);
    expect(fill(moneyOf(0.35, { known, callsElsewhere: 1 }))).toBe(0);
  });
});
