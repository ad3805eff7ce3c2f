import { roundScore } from './scoring.ts';

/** How many times the differences are drawn anew, for the interval and for the p-value. */
const RESAMPLES = 2_000;

/** Above this many pairs the normal approximation is as good, and the work stays bounded (at most 4 × 10⁶ draws). */
export const MAX_RESAMPLED_PAIRS = 2_000;

/** With fewer pairs that differ, no pattern of signs reaches p < 0.05: 2 / 2⁵ = 0.0625. */
export const MIN_DIFFERING_PAIRS = 6;

/** Up to 2¹¹ = 2,048 patterns of signs all are tried, so that the p-value of few pairs is exact. */
const MAX_ENUMERATED_PAIRS = 11;

const Z_95 = 1.959964;

/** Any would do. With this one the intervals are within about 2 % of the width that theory gives. */
const SEED = 0x1234;

/** The mean difference of paired scores, and how far chance alone could move it. All rounded to six decimals. */
export interface DifferenceEstimate {
  mean: number;
  /** 95 % interval of the mean. */
  low: number;
  high: number;
  method: 'paired_bootstrap' | 'normal';
  /** Two-sided: how often differences with signs at random have a mean at least this far from 0. */
  pValue: number;
}

/**
 * Estimates the mean of paired differences with a percentile bootstrap over pairs (Efron and Tibshirani, An Introduction
 * to the Bootstrap, chapter 13) and a sign-flip permutation test; by the normal approximation above 2,000 pairs.
 * Deterministic: the generator has a fixed seed and the order of the differences does not matter.
 *
 * @throws RangeError without a difference
 */
export function estimateDifference(differences: readonly number[]): DifferenceEstimate {
  if (differences.length === 0) throw new RangeError('there is nothing to estimate without a pair');
  const sorted = Float64Array.from(differences).sort();
  const mean = sum(sorted) / sorted.length;
  if (sorted.length <= MAX_RESAMPLED_PAIRS) return rounded(mean, byResampling(sorted, mean));
  let squares = 0;
  for (const difference of sorted) squares += (difference - mean) ** 2;
  return estimateFromSums(sorted.length, mean, squares);
}

/**
 * The same from sums, for more than {@link MAX_RESAMPLED_PAIRS} pairs.
 * @param squares the sum of the squared distances from the mean
 */
export function estimateFromSums(pairs: number, mean: number, squares: number): DifferenceEstimate {
  return rounded(mean, byNormalApproximation(pairs, mean, squares));
}

function rounded(mean: number, estimate: RawEstimate): DifferenceEstimate {
  return {
    ...estimate,
    mean: roundScore(mean),
    low: roundScore(estimate.low),
    high: roundScore(estimate.high),
    pValue: roundScore(estimate.pValue),
  };
}

type RawEstimate = Omit<DifferenceEstimate, 'mean'>;

function byResampling(differences: Float64Array, mean: number): RawEstimate {
  const random = createRandom(SEED);
  const length = differences.length;
  const means = new Float64Array(RESAMPLES);
  for (let draw = 0; draw < RESAMPLES; draw += 1) {
    let total = 0;
    for (let i = 0; i < length; i += 1) total += differences[Math.floor((random() / 2 ** 32) * length)] ?? 0;
    means[draw] = total / length;
  }
  means.sort();
  return {
    low: means[Math.floor(RESAMPLES * 0.025)] ?? mean,
    high: means[Math.ceil(RESAMPLES * 0.975) - 1] ?? mean,
    method: 'paired_bootstrap',
    pValue: signFlipPValue(
      differences.filter((difference) => difference !== 0),
      random,
    ),
  };
}

/** The share of sign patterns whose sum is at least as far from 0 as the one seen. Pairs without a difference don't matter. */
function signFlipPValue(differences: Float64Array, random: () => number): number {
  if (differences.length === 0) return 1;
  // Sums of the same numbers in another order differ by float noise, and such a tie counts as "as far".
  const seen = Math.abs(sum(differences)) - 1e-9;
  if (differences.length <= MAX_ENUMERATED_PAIRS) {
    const patterns = 2 ** differences.length;
    let asFar = 0;
    for (let pattern = 0; pattern < patterns; pattern += 1) {
      if (Math.abs(flippedSum(differences, () => pattern)) >= seen) asFar += 1;
    }
    return asFar / patterns;
  }
  // One added above and below: the pattern seen is itself one of those possible, so that p is never 0.
  let asFar = 1;
  for (let draw = 0; draw < RESAMPLES; draw += 1) {
    if (Math.abs(flippedSum(differences, random)) >= seen) asFar += 1;
  }
  return asFar / (RESAMPLES + 1);
}

/** `nextBits` gives 32 random signs at a time. */
function flippedSum(differences: Float64Array, nextBits: () => number): number {
  let total = 0;
  let bits = 0;
  for (let i = 0; i < differences.length; i += 1) {
    bits = i % 32 === 0 ? nextBits() : bits >>> 1;
    const difference = differences[i] ?? 0;
    total += (bits & 1) === 1 ? difference : -difference;
  }
  return total;
}

function byNormalApproximation(pairs: number, mean: number, squares: number): RawEstimate {
  const error = Math.sqrt(squares / (pairs - 1) / pairs);
  return {
    low: mean - Z_95 * error,
    high: mean + Z_95 * error,
    method: 'normal',
    pValue: mean === 0 ? 1 : normalTails(error === 0 ? Number.POSITIVE_INFINITY : Math.abs(mean) / error),
  };
}

/** The probability of a standard normal value at least `z` ≥ 0 from 0; absolute error below 2 × 10⁻⁷ (Abramowitz and Stegun 7.1.26). */
function normalTails(z: number): number {
  if (!Number.isFinite(z)) return 0;
  const x = z / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return Math.min(1, Math.max(0, polynomial * Math.exp(-x * x)));
}

function sum(values: Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Uniform 32-bit integers from a seed (a Weyl sequence through the finaliser of MurmurHash3). Not for secrets. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
}
