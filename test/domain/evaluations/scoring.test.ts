import { describe, expect, test } from '@jest/globals';
import { passes, roundScore, weightedMean } from '../../../src/domain/evaluations/scoring.ts';

describe('rounding', () => {
  test('keeps six decimals, half away from zero', () => {
    expect(roundScore(2 / 3)).toBe(0.666667);
    expect(roundScore(0.1 + 0.2)).toBe(0.3);
    expect(roundScore(0.0000005)).toBe(0.000001);
    expect(roundScore(-0.0000005)).toBe(-0.000001);
    expect(roundScore(0.0000004999)).toBe(0);
    expect(Object.is(roundScore(-0.0000001), 0)).toBe(true);
  });
});

describe("an example's score", () => {
  test('is the weighted mean of its evaluators', () => {
    const scores = [
      { score: 1, weight: 3 },
      { score: 0, weight: 1 },
    ];
    expect(weightedMean(scores)).toBe(0.75);
  });

  test('is 1 when every evaluator gives 1, whatever the weights', () => {
    expect(weightedMean([0.1, 0.2, 0.3, 1e-9, 1_000].map((weight) => ({ score: 1, weight })))).toBe(1);
  });

  test('does not exist without an evaluator', () => {
    expect(() => weightedMean([])).toThrow(RangeError);
  });
});

describe("a run's score", () => {
  test('reaches a threshold it equals', () => {
    expect(passes((0.7 + 0.8 + 0.9) / 3, 0.8)).toBe(true);
    expect(passes(0.3, 0.1 + 0.2)).toBe(true);
    expect(passes(0.799999, 0.8)).toBe(false);
  });
});
