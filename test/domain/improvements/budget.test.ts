import { expect, test } from '@jest/globals';
import {
  callsOf,
  costOf,
  leastCost,
  proposalCost,
  proposalShare,
  reflectionReserve,
  verdictReserve,
  warningsOf,
} from '../../../src/domain/improvements/budget.ts';

const plan = { train: 50, check: 50, heldOut: 100, maxProposals: 40, parallel: 4, minibatch: 8 };
const costs = { example: 0.001, reflection: 0.02 };

test('the number of calls is known before', () => {
  expect(callsOf(plan)).toEqual({
    expected: 50 + 100 + 40 * 16 + 0.45 * 40 * 50 + 200,
    most: 50 + 100 + 40 * 66 + 200,
  });
  expect(costOf(plan, costs)).toEqual({ expected: expect.closeTo(1.89 + 0.8, 9), most: expect.closeTo(2.99 + 1.6, 9) });
});

test('the least amount pays for the base, a round and the verdict', () => {
  expect(verdictReserve(100, 0.001)).toBeCloseTo(0.3);
  expect(leastCost(plan, costs)).toBeCloseTo(0.15 + 4 * (0.066 + 0.04) + 0.3);
  expect(leastCost({ ...plan, maxProposals: 1 }, costs)).toBeCloseTo(0.15 + 0.106 + 0.3);
  const left = leastCost(plan, costs) - 0.15;
  const share = proposalShare({ maxCost: left, spent: 0, reserved: 0.3, proposals: 4 }, plan, costs);
  expect(share).toBeCloseTo(proposalCost(plan, costs), 5);
});

test('the proposals of a round share what the verdict leaves', () => {
  const rest = { maxCost: 1, spent: 0.4, reserved: 0.3, proposals: 4 };
  expect(proposalShare(rest, plan, costs)).toBe(0.075);
  expect(proposalShare({ ...rest, maxCost: null }, plan, costs)).toBeNull();
  expect(proposalShare({ ...rest, spent: 0.6 }, plan, costs)).toBeUndefined();
  // Rounded down, so that all of them together stay within.
  expect(proposalShare({ ...rest, proposals: 7 }, plan, costs)).toBe(0.042857);
});

test('a reflection sets aside its whole answer', () => {
  expect(reflectionReserve(3_000, 4_000, { input: 0.000001, output: 0.00001 })).toBeCloseTo(0.041);
});

test('warns of few held-out examples and few rounds', () => {
  expect(warningsOf(plan)).toEqual([]);
  expect(warningsOf({ ...plan, heldOut: 60, parallel: 8 })).toEqual([
    expect.stringContaining('60 examples'),
    expect.stringContaining('5 rounds'),
  ]);
});
