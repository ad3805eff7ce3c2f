import { type Expression, type RawBuilder, sql } from 'kysely';
import { LAST_LATENCY_BUCKET, latencyBucketEnd, latencyBucketStart } from '../../domain/analysis/sums.ts';

/** Same as `latencyBucket`, in SQL. */
const GROWTH = 1.02;
/** The number of fine buckets in a coarse one. */
const FINE_IN_COARSE = 8;

/** The bucket of a latency in milliseconds. A coarse bucket has the number of its first fine bucket. */
export const bucketSql = (ms: Expression<unknown>, isFine: Expression<unknown>): RawBuilder<number> => {
  const fine = sql`least(${sql.lit(LAST_LATENCY_BUCKET)}, floor(ln(greatest(${ms}, 1)) / ln(${sql.lit(GROWTH)})))::int`;
  return sql`case when ${isFine} then ${fine} else ${fine} / ${sql.lit(FINE_IN_COARSE)} * ${sql.lit(FINE_IN_COARSE)} end`;
};

function middleOf(bucket: number, isFine: boolean): number {
  const start = latencyBucketStart(bucket);
  const end = latencyBucketEnd(bucket + (isFine ? 0 : FINE_IN_COARSE - 1));
  return Number.isFinite(end) ? (start + end) / 2 : start;
}

/** A percentile of the values in buckets, in milliseconds; null if there are none. */
export function percentileOf(buckets: Readonly<Record<number, number>>, share: number, isFine: boolean): number | null {
  const counts = Object.entries(buckets).map(([bucket, count]) => [Number(bucket), count] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const [bucket, count] of counts.toSorted(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return middleOf(bucket, isFine);
  }
  return null;
}
