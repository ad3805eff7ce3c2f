import { describe, expect, test } from '@jest/globals';
import {
  compareScores,
  exampleChange,
  meanScore,
  passes,
  percentile,
  roundScore,
  scoresByEvaluator,
  weightedMean,
} from '../../src/domain/scoring.ts';

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
  test('is the mean over its examples, and null without any', () => {
    expect(meanScore([0.1, 0.2, 0.3])).toBe(0.2);
    expect(meanScore([1, 1, 0])).toBe(0.666667);
    expect(meanScore([])).toBeNull();
  });

  test('does not depend on the order or gather noise over many examples', () => {
    const scores = Array.from({ length: 100_000 }, (_, n) => (n % 10) / 10);
    expect(meanScore(scores)).toBe(0.45);
    expect(meanScore(scores.toReversed())).toBe(0.45);
    expect(meanScore(Array.from({ length: 99_999 }, () => 0.1))).toBe(0.1);
  });

  test('reaches a threshold it equals', () => {
    expect(passes(meanScore([0.7, 0.8, 0.9]) ?? 0, 0.8)).toBe(true);
    expect(passes(0.3, 0.1 + 0.2)).toBe(true);
    expect(passes(0.799999, 0.8)).toBe(false);
  });
});

describe('scores by evaluator', () => {
  test('count an example without a score as 0', () => {
    expect(scoresByEvaluator(['a', 'b'], [{ a: 1, b: 0.5 }, { a: 1, b: 1 }, {}])).toEqual({ a: 0.666667, b: 0.5 });
  });

  test('are null without an example', () => {
    expect(scoresByEvaluator(['a'], [])).toEqual({ a: null });
  });

  test('take no inherited property for a score', () => {
    expect(scoresByEvaluator(['constructor'], [{}, { constructor: 1 }])).toEqual({ constructor: 0.5 });
  });
});

describe('an example beside the baseline', () => {
  test('is a regression when it scores lower by more than float noise', () => {
    expect(exampleChange(0.4, 0.5, 0)).toBe('regression');
    expect(exampleChange(0.6, 0.5, 1)).toBe('improvement');
    expect(exampleChange(0.3, 0.1 + 0.2, 1)).toBe('unchanged');
    expect(compareScores(0.3, 0.1 + 0.2)).toBe(0);
    expect(exampleChange(0, undefined, 1)).toBe('new');
  });

  test('is a regression below the threshold when the run has no baseline', () => {
    expect(exampleChange(0.79, null, 0.8)).toBe('regression');
    expect(exampleChange(0.8, null, 0.8)).toBe('unchanged');
  });
});

describe('percentiles', () => {
  test('are by nearest rank', () => {
    const values = [50, 15, 40, 20, 35];
    expect([5, 30, 40, 50, 100].map((percent) => percentile(values, percent))).toEqual([15, 20, 20, 35, 50]);
    const hundred = Array.from({ length: 100 }, (_, n) => n + 1);
    expect([1, 50, 95, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([1, 50, 95, 99, 100]);
  });

  test('sort as numbers and leave the values as they are', () => {
    const values = [10, 9, 100];
    expect(percentile(values, 50)).toBe(10);
    expect(values).toEqual([10, 9, 100]);
  });

  test('are null without a value, and refuse a percent out of range', () => {
    expect(percentile([], 50)).toBeNull();
    expect(percentile([7], 95)).toBe(7);
    for (const percent of [0, -1, 100.1, Number.NaN]) expect(() => percentile([1], percent)).toThrow(RangeError);
  });
});
