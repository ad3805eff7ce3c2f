import { describe, expect, test } from '@jest/globals';
import { boundedEvidence, boundsOf, differenceBounds, rateEvidence } from '../../../src/domain/analysis/evidence.ts';
import { meanBounds, meanDifferenceBounds, meanRatioBounds } from '../../../src/domain/analysis/means.ts';
import { percentileBounds, percentileOf, percentileRatioBounds } from '../../../src/domain/analysis/quantiles.ts';
import { latencyBucket } from '../../../src/domain/analysis/sums.ts';

const ALPHA = 0.05;

function valuesOf(count: number, mean: number, deviation: number) {
  return { count, sum: count * mean, squares: deviation ** 2 * (count - 1) + count * mean ** 2 };
}

function latenciesOf(values: readonly number[]): Record<number, number> {
  const latency: Record<number, number> = {};
  for (const value of values) latency[latencyBucket(value)] = (latency[latencyBucket(value)] ?? 0) + 1;
  return latency;
}

describe('rates', () => {
  // Vectors by bisection over Python's math.lgamma, those of two arms over a grid of 4,000 ways to share the evidence.
  test('have the bounds of the mixture', () => {
    const { lower, upper } = boundsOf(rateEvidence(31, 508), ALPHA);
    expect(lower).toBeCloseTo(0.030314, 5);
    expect(upper).toBeCloseTo(0.1061763, 5);
    const never = boundsOf(rateEvidence(0, 30), ALPHA);
    expect(never.lower).toBe(0);
    expect(never.upper).toBeCloseTo(0.1611825, 5);
  });

  test('have the bounds of the difference of two arms', () => {
    const { lower, upper } = differenceBounds(rateEvidence(31, 508), rateEvidence(92, 4592), ALPHA);
    expect(lower).toBeCloseTo(0.0017479, 5);
    expect(upper).toBeCloseTo(0.10335, 5);
    const turned = differenceBounds(rateEvidence(92, 4592), rateEvidence(31, 508), ALPHA);
    expect(turned.lower).toBeCloseTo(-upper, 5);
    expect(turned.upper).toBeCloseTo(-lower, 5);
  });

  test('say nothing without an execution, and something after one', () => {
    expect(differenceBounds(rateEvidence(0, 0), rateEvidence(0, 0), ALPHA)).toEqual({ lower: -1, upper: 1 });
    const { lower, upper } = differenceBounds(rateEvidence(1, 1), rateEvidence(0, 1), ALPHA);
    expect(lower).toBeGreaterThanOrEqual(-1);
    expect(upper).toBe(1);
  });

  test('take millions', () => {
    const { lower, upper } = differenceBounds(rateEvidence(20_000, 1_000_000), rateEvidence(180_000, 9_000_000), ALPHA);
    expect(lower).toBeLessThan(0);
    expect(upper).toBeGreaterThan(0);
    expect(upper - lower).toBeLessThan(0.002);
  });
});

describe('means within a range', () => {
  test('exceed those of a rate by at most the half that is bet otherwise', () => {
    const asRate = boundsOf(rateEvidence(80, 100), ALPHA / 2);
    const bounds = boundsOf(boundedEvidence({ count: 100, sum: 80, squares: 80 }, { min: 0, max: 1 }), ALPHA);
    expect(bounds.lower).toBeGreaterThanOrEqual(asRate.lower - 1e-5);
    expect(bounds.upper).toBeLessThanOrEqual(asRate.upper + 1e-5);
  });

  test('are narrower if values vary little', () => {
    const even = boundsOf(boundedEvidence(valuesOf(1_000, 0.8, 0.05), { min: 0, max: 1 }), ALPHA);
    const asRate = boundsOf(rateEvidence(800, 1_000), ALPHA);
    expect(even.upper - even.lower).toBeLessThan((asRate.upper - asRate.lower) / 3);
    expect(even.lower).toBeLessThan(0.8);
    expect(even.upper).toBeGreaterThan(0.8);
  });

  test('follow the range', () => {
    const unit = boundsOf(boundedEvidence(valuesOf(100, 0.5, 0.2), { min: 0, max: 1 }), ALPHA);
    const grades = boundsOf(boundedEvidence(valuesOf(100, 3, 0.8), { min: 1, max: 5 }), ALPHA);
    expect(grades.lower).toBeCloseTo(1 + 4 * unit.lower, 3);
    expect(grades.upper).toBeCloseTo(1 + 4 * unit.upper, 3);
  });
});

describe('means without a range', () => {
  test('have the bounds of the anytime-valid t-test', () => {
    const { lower, upper } = meanBounds(valuesOf(100, 1, 0.5), ALPHA);
    expect(upper - 1).toBeCloseTo(0.168279, 5);
    expect(1 - lower).toBeCloseTo(0.168279, 5);
    expect(meanBounds(valuesOf(30, 1, 0.5), ALPHA).upper - 1).toBeCloseTo(0.508311, 5);
  });

  test('say nothing below 30 values of an arm', () => {
    const few = valuesOf(29, 1, 0.1);
    const many = valuesOf(1_000, 1, 0.1);
    expect(meanBounds(few, ALPHA)).toEqual({ lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY });
    expect(meanDifferenceBounds(few, many, ALPHA).upper).toBe(Number.POSITIVE_INFINITY);
    expect(meanRatioBounds(many, few, ALPHA)).toEqual({ lower: 0, upper: Number.POSITIVE_INFINITY });
  });

  test('have a ratio that agrees with the difference', () => {
    const [candidate, stable] = [valuesOf(500, 1.5, 1), valuesOf(4_000, 1, 1)];
    const { lower, upper } = meanRatioBounds(candidate, stable, ALPHA);
    expect(lower).toBeGreaterThan(1);
    expect(lower).toBeLessThan(1.5);
    expect(upper).toBeGreaterThan(1.5);
    const scaled = { count: stable.count, sum: stable.sum * lower, squares: stable.squares * lower ** 2 };
    expect(meanDifferenceBounds(candidate, scaled, ALPHA).lower).toBeCloseTo(0, 9);
  });

  test('accept constant costs', () => {
    const same = { count: 100, sum: 0.1, squares: 100 * 0.001 ** 2 };
    const { lower, upper } = meanRatioBounds(same, same, ALPHA);
    expect(lower).toBeCloseTo(1, 6);
    expect(upper).toBeCloseTo(1, 6);
  });

  test('have no ratio to zero', () => {
    const free = valuesOf(100, 0, 0);
    expect(meanRatioBounds(valuesOf(100, 1, 1), free, ALPHA)).toEqual({ lower: 0, upper: Number.POSITIVE_INFINITY });
  });
});

describe('95th percentiles', () => {
  const evenly = (count: number, longest: number) =>
    latenciesOf(Array.from({ length: count }, (_, index) => ((index + 0.5) / count) * longest));

  test('are as exact as a bucket is wide', () => {
    const percentile = percentileOf(evenly(10_000, 1_000));
    expect(percentile.count).toBe(10_000);
    expect(Math.abs((percentile.estimate ?? 0) / 950 - 1)).toBeLessThan(0.02);
    const { lower, upper } = percentileBounds(percentile, ALPHA);
    expect(lower).toBeGreaterThan(900);
    expect(lower).toBeLessThan(950);
    expect(upper).toBeGreaterThan(950);
    expect(upper).toBeLessThan(1_000);
  });

  test('compare as a ratio', () => {
    const [slow, fast] = [percentileOf(evenly(2_000, 3_000)), percentileOf(evenly(20_000, 2_000))];
    const { lower, upper } = percentileRatioBounds(slow, fast, ALPHA);
    expect(lower).toBeGreaterThan(1.3);
    expect(lower).toBeLessThan(1.5);
    expect(upper).toBeGreaterThan(1.5);
    const turned = percentileRatioBounds(fast, slow, ALPHA);
    expect(turned.lower).toBeCloseTo(1 / upper, 9);
    expect(turned.upper).toBeCloseTo(1 / lower, 9);
  });

  test('say nothing without a latency, and have no end in the last bucket', () => {
    const none = percentileOf({});
    expect(none.estimate).toBeNull();
    expect(percentileBounds(none, ALPHA)).toEqual({ lower: 0, upper: Number.POSITIVE_INFINITY });
    expect(percentileRatioBounds(none, none, ALPHA)).toEqual({ lower: 0, upper: Number.POSITIVE_INFINITY });
    const endless = percentileOf(latenciesOf(Array(1_000).fill(1e9)));
    expect(percentileBounds(endless, ALPHA).upper).toBe(Number.POSITIVE_INFINITY);
    expect(percentileBounds(endless, ALPHA).lower).toBeGreaterThan(7_000_000);
  });

  test.each([
    [0, 0],
    [1, 0],
    [1.03, 1],
    [1_000, 348],
    [7_600_000, 800],
    [Number.POSITIVE_INFINITY, 800],
  ])('count %d ms in bucket %d', (ms, bucket) => {
    expect(latencyBucket(ms)).toBe(bucket);
  });
});
