import { roundScore } from './scoring.ts';

/** Above this number of pairs the normal approximation is as good, and the work stays bounded (two million lookups). */
export const MAX_RESAMPLED_PAIRS = 2_000;

/** With fewer differing pairs, no pattern of signs reaches p < 0.05: 2 / 2⁵ = 0.0625. */
export const MIN_DIFFERING_PAIRS = 6;

/** 1 minus the confidence of the interval. */
const ALPHA = 0.05;

/** Up to this number of differences every pattern of signs is tried, so that few pairs get an exact answer. */
const MAX_ENUMERATED = 13;
/** The number of patterns otherwise, 5 % of which is a whole number. */
const RANDOM_PATTERNS = 4_000;

const Z_95 = 1.959964;

/** Any seed would do. */
const SEED = 0x1234;

/** Scores are whole millionths, whose sums have no float noise. */
const MILLIONTHS = 1_000_000;

/** The mean difference of paired scores, and how far chance alone could move it. All rounded to six decimals. */
export interface DifferenceEstimate {
  mean: number;
  /** 95 % interval of the mean, within −1..1. It excludes 0 exactly when `pValue` is below 0.05. */
  low: number;
  high: number;
  method: 'sign_flip' | 'normal';
  /** Two-sided: the probability of a mean at least this far from 0 if there is no difference. */
  pValue: number;
}

/**
 * Estimates the mean of paired differences of scores by the sign-flip permutation test: the interval is every mean that the test
 * does not reject, so that interval and p-value agree. To test a mean, it is subtracted from each difference and signs are
 * flipped at random. The mean of all flipped differences is at least as far from 0 as without flips exactly as often as the tested mean
 * lies between the mean of the flipped differences and the mean of the others. So the ends of the interval are quantiles of means of
 * random subsets (Hartigan, "Using subsample values as typical values", Journal of the American Statistical Association 64
 * (1969)). The test is exact for differences that are symmetric around their mean. With fewer than six pairs it rejects nothing,
 * and the interval is −1..1.
 *
 * Examples that were not drawn can't be flipped, which makes the interval too narrow if few examples differ, or all of them in
 * one direction. So it is joined with the interval of the same differences plus the smallest, the largest and 0 as the extremes
 * of one more example (the pseudo-observations of Agresti and Coull, The American Statistician 52 (1998)), and, if all
 * differences are the same, with the share that Clopper and Pearson (Biometrika 26 (1934)) leave to other values.
 *
 * Above 2,000 pairs, the normal approximation is used. Deterministic: the generator has a fixed seed and the order of the
 * differences does not matter.
 *
 * @param differences −1..1, of scores that are rounded to six decimals
 * @throws RangeError without a difference
 */
export function estimateDifference(differences: readonly number[]): DifferenceEstimate {
  const pairs = differences.length;
  if (pairs === 0) throw new RangeError('there is nothing to estimate without a pair');
  const sorted = Float64Array.from(differences, (difference) => Math.round(difference * MILLIONTHS)).sort();
  const mean = sum(sorted) / pairs / MILLIONTHS;
  if (pairs > MAX_RESAMPLED_PAIRS) {
    const squares = sorted.reduce((total, difference) => total + (difference / MILLIONTHS - mean) ** 2, 0);
    return estimateFromSums({
      pairs,
      differing: sorted.filter((difference) => difference !== 0).length,
      mean,
      squares,
    });
  }
  const seen = bySignFlips(sorted);
  const unseen = bySignFlips(Float64Array.of(...sorted, Math.min(0, sorted[0] ?? 0), Math.max(0, sorted.at(-1) ?? 0)));
  const interval = seen.low < -1 ? EVERYTHING : hull(seen, unseen);
  const isSame = sorted[0] === sorted.at(-1);
  return rounded(
    mean,
    'sign_flip',
    Math.max(seen.pValue, unseen.pValue),
    isSame ? hull(interval, ofOne(mean, pairs)) : interval,
  );
}

/** The sums of more than {@link MAX_RESAMPLED_PAIRS} pairs. */
export interface DifferenceSums {
  pairs: number;
  /** The number of pairs that differ. */
  differing: number;
  mean: number;
  /** The sum of the squared distances from the mean. */
  squares: number;
}

/** Like `estimateDifference`, by the normal approximation, from sums. */
export function estimateFromSums({ pairs, differing, mean, squares }: DifferenceSums): DifferenceEstimate {
  const error = Math.sqrt(squares / (pairs - 1) / pairs);
  const half = Z_95 * error;
  const interval = hull(
    { low: mean - half, high: mean + half },
    error === 0 ? ofOne(mean, pairs) : { low: mean, high: mean },
  );
  const pValue = mean === 0 ? 1 : normalTails(error === 0 ? Number.POSITIVE_INFINITY : Math.abs(mean) / error);
  // No test of signs can distinguish so few from chance, and the approximation does not hold for them.
  if (differing >= MIN_DIFFERING_PAIRS) return rounded(mean, 'normal', pValue, interval);
  return rounded(mean, 'normal', Math.max(pValue, 2 ** (1 - differing)), hull(interval, { low: 0, high: 0 }));
}

interface Interval {
  low: number;
  high: number;
}

const EVERYTHING: Interval = { low: -1, high: 1 };

const hull = (a: Interval, b: Interval): Interval => ({ low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) });

/** If all differences are the same: the share of all examples that may have other differences, towards 0 or (from 0) in either direction. */
function ofOne(value: number, pairs: number): Interval {
  const unseen = 1 - (ALPHA / 2) ** (1 / pairs);
  if (value === 0) return { low: -unseen, high: unseen };
  const rest = value * (1 - unseen);
  return { low: Math.min(value, rest), high: Math.max(value, rest) };
}

/** The verdict is derived from the rounded interval, so rounding moves no end to 0 or past it, nor the p-value past 0.05. */
function rounded(
  mean: number,
  method: DifferenceEstimate['method'],
  pValue: number,
  interval: Interval,
): DifferenceEstimate {
  const isReal = interval.low > 0 || interval.high < 0;
  const low = roundScore(Math.max(-1, interval.low));
  const high = roundScore(Math.min(1, interval.high));
  const p = roundScore(pValue);
  const least = 1 / MILLIONTHS;
  return {
    mean: roundScore(mean),
    low: interval.low > 0 ? Math.max(least, low) : low,
    high: interval.high < 0 ? Math.min(-least, high) : high,
    method,
    pValue: isReal ? Math.min(ALPHA - least, p) : Math.max(ALPHA, p),
  };
}

/**
 * The interval and the p-value of the mean of some differences (in whole millionths). Infinite ends mean any mean. Opposite patterns are
 * equivalent, so only one of them is counted.
 */
function bySignFlips(differences: Float64Array): Interval & { pValue: number } {
  const total = sum(differences);
  const patterns = differences.length <= MAX_ENUMERATED ? everyPattern(differences) : randomPatterns(differences);
  const count = patterns.length / 2;
  const lows = new Float64Array(count);
  const highs = new Float64Array(count);
  let asFar = 0;
  for (let index = 0; index < count; index += 1) {
    const flipped = patterns[2 * index] ?? 0;
    const size = patterns[2 * index + 1] ?? 0;
    const isTrivial = size === 0 || size === differences.length;
    if (isTrivial || flipped * (total - flipped) <= 0) asFar += 1;
    const one = isTrivial ? Number.NEGATIVE_INFINITY : flipped / size;
    const other = isTrivial ? Number.POSITIVE_INFINITY : (total - flipped) / (differences.length - size);
    lows[index] = Math.min(one, other) / MILLIONTHS;
    highs[index] = Math.max(one, other) / MILLIONTHS;
  }
  lows.sort();
  highs.sort();
  // A mean is not rejected while at least this number of patterns are as far away.
  const needed = Math.ceil(ALPHA * count - 1e-9);
  return { low: lows[needed - 1] ?? 0, high: highs[count - needed] ?? 0, pValue: asFar / count };
}

/** Sum and number of the flipped differences, for each set of them without the first one. */
function everyPattern(differences: Float64Array): Float64Array {
  const patterns = new Float64Array(2 ** differences.length);
  for (let pattern = 1; pattern < patterns.length / 2; pattern += 1) {
    // The set without its lowest member was computed before.
    const rest = pattern & (pattern - 1);
    const member = 31 - Math.clz32(pattern ^ rest);
    patterns[2 * pattern] = (patterns[2 * rest] ?? 0) + (differences[member + 1] ?? 0);
    patterns[2 * pattern + 1] = (patterns[2 * rest + 1] ?? 0) + 1;
  }
  return patterns;
}

/**
 * Like `everyPattern`, for random sets. If there are few sets of the differences that are not 0, all are used equally often, so
 * that the p-value is exact. Otherwise the first is the observed one, which is a possible one, so that p is never 0.
 */
function randomPatterns(differences: Float64Array): Float64Array {
  const random = createRandom(SEED);
  const differing = differences.filter((difference) => difference !== 0);
  const sums = setSums(differing);
  const areFew = differing.length < MAX_ENUMERATED;
  const sets = 2 ** differing.length;
  const count = areFew ? sets * Math.ceil(RANDOM_PATTERNS / sets) : RANDOM_PATTERNS;
  const patterns = new Float64Array(2 * count);
  for (let pattern = areFew ? 0 : 1; pattern < count; pattern += 1) {
    let flipped = 0;
    let size = 0;
    for (let start = 0; start < differing.length; start += 32) {
      const bits = (areFew ? pattern % sets : random()) & lowBits(differing.length - start);
      size += bitsIn(bits);
      for (
        let shift = 0, table = start * (SETS / GROUP);
        shift < 32 && table < sums.length;
        shift += GROUP, table += SETS
      )
        flipped += sums[table + ((bits >>> shift) & (SETS - 1))] ?? 0;
    }
    for (let zeros = differences.length - differing.length; zeros > 0; zeros -= 32)
      size += bitsIn(random() & lowBits(zeros));
    patterns[2 * pattern] = flipped;
    patterns[2 * pattern + 1] = size;
  }
  return patterns;
}

/** The number of differences looked up together, of 32 that share a random number. */
const GROUP = 8;
const SETS = 2 ** GROUP;

const lowBits = (count: number) => (count >= 32 ? -1 : 2 ** count - 1);

/** For each group of differences the sums of all its sets, whose members are the bits of the index. */
function setSums(differences: Float64Array): Float64Array {
  const sums = new Float64Array(Math.ceil(differences.length / GROUP) * SETS);
  for (let index = 1; index < sums.length; index += 1) {
    const set = index % SETS;
    if (set === 0) continue;
    const lowest = 31 - Math.clz32(set & -set);
    sums[index] = (sums[index - (set & -set)] ?? 0) + (differences[Math.floor(index / SETS) * GROUP + lowest] ?? 0);
  }
  return sums;
}

/** The number of set bits in a 32-bit word (Warren, Hacker's Delight, figure 5-2). */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/**
 * The probability that a standard normal value is at least `z` ≥ 0 away from 0; absolute error below 2 × 10⁻⁷ (Abramowitz and Stegun 7.1.26).
 */
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
