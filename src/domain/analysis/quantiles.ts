import type { Bounds } from './evidence.ts';
import { logBeta } from './log-beta.ts';
import { type ArmSums, LAST_LATENCY_BUCKET, latencyBucketEnd, latencyBucketStart } from './sums.ts';

/** The share of executions that are at most as slow as the 95th percentile. */
const SHARE = 0.95;

/** A beta distribution with the mean 0.95, as wide as the uncertainty of some hundred executions. */
const PRIOR = { below: 19, above: 1 };

/** The evidence of a histogram about the 95th percentile. */
export interface Percentile {
  count: number;
  /** In ms, by nearest rank, with the precision of a bucket; null without an execution. */
  estimate: number | null;
  /** By bucket: the evidence, as in `Evidence`, against the percentile being in it. */
  against: Float64Array;
}

/**
 * The 95th percentile of latencies. If it were x, each execution would take at most x with a probability of 0.95: the number of those that do
 * has a known rate, against which Robbins' mixture (as for rates) gives evidence once it is too small or too large. In each bucket the
 * best-fitting count is used, so that the width of buckets widens the bounds without making them wrong.
 *
 * Howard and Ramdas, "Sequential estimation of quantiles with applications to A/B testing and best-arm identification", Bernoulli 28 (2022).
 */
export function percentileOf(latency: ArmSums['latency']): Percentile {
  const counts = Array.from({ length: LAST_LATENCY_BUCKET + 1 }, (_, bucket) => latency[bucket] ?? 0);
  const count = counts.reduce((sum, each) => sum + each, 0);
  const rank = Math.ceil(SHARE * count);
  const against = new Float64Array(counts.length);
  let estimate: number | null = null;
  let below = 0;
  let wasAtCount = -1;
  // The evidence is minimal at this count, because the prior has the same mean.
  const bestFit = SHARE * count;
  for (const [bucket, inBucket] of counts.entries()) {
    const upTo = below + inBucket;
    const isSameCount = bucket > 0 && inBucket === 0 && wasAtCount === below;
    const atCount = Math.min(Math.max(bestFit, below), upTo);
    against[bucket] = isSameCount ? (against[bucket - 1] ?? 0) : evidenceAt(atCount, count);
    wasAtCount = atCount;
    if (estimate === null && count > 0 && upTo >= rank) estimate = middleOf(bucket);
    below = upTo;
  }
  return { count, estimate, against };
}

function evidenceAt(events: number, count: number): number {
  const mixture = logBeta(PRIOR.below + events, PRIOR.above + count - events) - logBeta(PRIOR.below, PRIOR.above);
  return mixture - events * Math.log(SHARE) - (count - events) * Math.log(1 - SHARE);
}

/** In ms. */
export function percentileBounds({ against }: Percentile, alpha: number): Bounds {
  const enough = -Math.log(alpha);
  return {
    lower: latencyBucketStart(against.findIndex((evidence) => evidence <= enough)),
    upper: latencyBucketEnd(against.findLastIndex((evidence) => evidence <= enough)),
  };
}

/** Bounds of the ratio of two percentiles (candidate by stable): over all pairs of buckets that are not ruled out together. */
export function percentileRatioBounds(candidate: Percentile, stable: Percentile, alpha: number): Bounds {
  const enough = -Math.log(alpha);
  return {
    lower: 1 / largestRatio(stable.against, candidate.against, enough),
    upper: largestRatio(candidate.against, stable.against, enough),
  };
}

/** The largest ratio of the end of a bucket of `high` to the start of a bucket of `low`. */
function largestRatio(high: Float64Array, low: Float64Array, enough: number): number {
  const least = low.reduce((a, b) => Math.min(a, b));
  let largest = 0;
  for (const [bucket, evidence] of high.entries()) {
    if (evidence + least > enough) continue;
    const lowBucket = low.findIndex((other) => evidence + other <= enough);
    largest = Math.max(largest, latencyBucketEnd(bucket) / latencyBucketStart(lowBucket));
  }
  return largest;
}

/** The middle of a bucket. The last one has no end. */
const middleOf = (bucket: number) =>
  bucket === LAST_LATENCY_BUCKET
    ? latencyBucketStart(bucket)
    : (latencyBucketStart(bucket) + latencyBucketEnd(bucket)) / 2;
