import type { Bounds } from './evidence.ts';
import type { ValueSums } from './sums.ts';

/**
 * The width of the mixture, as a number of executions: the bounds are narrowest, relative to the optimum, at about eight times
 * this number (400), and little wider from 100 to 10,000.
 */
const PRIOR_EXECUTIONS = 50;

/** An arm with fewer values gets no bounds, because its variance is unknown. */
const MIN_VALUES = 30;

const EVERYTHING: Bounds = { lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };

/** One arm's mean and its variability. */
interface Mean {
  mean: number;
  /** The variance of the mean. */
  variance: number;
  count: number;
}

export function meanOf({ count, sum, squares }: ValueSums): Mean {
  const mean = count === 0 ? 0 : sum / count;
  const distances = Math.max(0, squares - sum * mean);
  return { mean, variance: distances / Math.max(1, count - 1) / Math.max(1, count), count };
}

/**
 * The mean of values without a known range, such as costs: the confidence sequence of the anytime-valid t-test (Lai, "On confidence
 * sequences", Annals of Statistics 4 (1976); Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
 * variance", Sequential Analysis 44 (2025), theorem 4.7). Exact for normal values; for others asymptotically (Waudby-Smith, Arbour, Sinha,
 * Kennedy and Ramdas, "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52 (2024)).
 */
export function meanBounds(values: ValueSums, alpha: number): Bounds {
  if (values.count < MIN_VALUES) return EVERYTHING;
  const { mean, variance, count } = meanOf(values);
  const radius = radiusOf(variance, count, count - 1, alpha);
  return { lower: mean - radius, upper: mean + radius };
}

/**
 * The difference of two means (candidate minus stable): like `meanBounds`, with the degrees of freedom of Welch and
 * Satterthwaite. The difference of two running means is a random walk in the information 1 / variance, whatever the sizes of the
 * arms (Jennison and Turnbull, Group Sequential Methods, chapter 11).
 */
export function meanDifferenceBounds(candidate: ValueSums, stable: ValueSums, alpha: number): Bounds {
  if (Math.min(candidate.count, stable.count) < MIN_VALUES) return EVERYTHING;
  return differenceBoundsOf(meanOf(candidate), meanOf(stable), alpha);
}

function differenceBoundsOf(c: Mean, s: Mean, alpha: number): Bounds {
  const variance = c.variance + s.variance;
  const freedom =
    variance === 0
      ? Math.min(c.count, s.count) - 1
      : variance ** 2 / (c.variance ** 2 / (c.count - 1) + s.variance ** 2 / (s.count - 1));
  const radius = radiusOf(variance, (c.count * s.count) / (c.count + s.count), freedom, alpha);
  return { lower: c.mean - s.mean - radius, upper: c.mean - s.mean + radius };
}

/** The number of bisections in the search for a ratio. */
const RATIO_STEPS = 60;

/**
 * The ratio of two means of values that are at least 0 (candidate by stable): the ratios r for which the difference of the candidate and
 * r times stable may be 0 (Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954)).
 */
export function meanRatioBounds(candidate: ValueSums, stable: ValueSums, alpha: number): Bounds {
  const everything = { lower: 0, upper: Number.POSITIVE_INFINITY };
  if (Math.min(candidate.count, stable.count) < MIN_VALUES) return everything;
  const [c, s] = [meanOf(candidate), meanOf(stable)];
  if (s.mean <= 0) return everything;
  const ratio = c.mean / s.mean;
  const differenceAt = (r: number) =>
    differenceBoundsOf(c, { ...s, mean: s.mean * r, variance: s.variance * r * r }, alpha);
  const isTooSmall = (r: number) => differenceAt(r).lower > 0;
  const isTooLarge = (r: number) => differenceAt(r).upper < 0;
  const lower = isTooSmall(0) ? boundary(isTooSmall, 0, ratio) : 0;
  const far = Math.max(ratio, 1) * 1e6;
  return { lower, upper: isTooLarge(far) ? boundary(isTooLarge, far, ratio) : Number.POSITIVE_INFINITY };
}

/** The point between `outside` and `inside` where the condition stops holding, approached from outside. */
function boundary(holds: (at: number) => boolean, outside: number, inside: number): number {
  let [out, within] = [outside, inside];
  for (let step = 0; step < RATIO_STEPS; step += 1) {
    const middle = (out + within) / 2;
    if (holds(middle)) out = middle;
    else within = middle;
  }
  return out;
}

/** @param count for two arms, the count of a single arm with the same precision */
function radiusOf(variance: number, count: number, freedom: number, alpha: number): number {
  const shrinkage = PRIOR_EXECUTIONS / (count + PRIOR_EXECUTIONS);
  const growth = Math.exp((-2 * Math.log(alpha) - Math.log(shrinkage)) / (freedom + 1));
  if (shrinkage * growth >= 1) return Number.POSITIVE_INFINITY;
  return Math.sqrt(((growth - 1) / (1 - shrinkage * growth)) * freedom * variance);
}
