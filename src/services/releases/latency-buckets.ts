import { type Expression, type RawBuilder, sql } from 'kysely';

/** Each bucket is so much wider than the one before: a percentile read from them is off by 2.5 % at most. */
const GROWTH = 1.05;
/** Buckets of the fine kind in one of the coarse. */
const FINE_IN_COARSE = 4;

/** The bucket of a latency in milliseconds. The coarse one has the number of its first fine one. */
export const bucketSql = (ms: Expression<unknown>, isFine: Expression<unknown>): RawBuilder<number> => {
  const fine = sql`floor(ln(greatest(${ms}, 1)) / ln(${sql.lit(GROWTH)}))::int`;
  return sql`case when ${isFine} then ${fine} else ${fine} / ${sql.lit(FINE_IN_COARSE)} * ${sql.lit(FINE_IN_COARSE)} end`;
};

/** The middle of a bucket, in milliseconds. */
export const middleOf = (bucket: number, isFine: boolean): number =>
  GROWTH ** (bucket + (isFine ? 0.5 : FINE_IN_COARSE / 2));

/** A percentile of what is in buckets, in milliseconds; null where there is nothing. */
export function percentileOf(buckets: ReadonlyMap<number, number>, share: number, isFine: boolean): number | null {
  const total = [...buckets.values()].reduce((sum, count) => sum + count, 0);
  let left = Math.ceil(total * share);
  for (const [bucket, count] of [...buckets].toSorted(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return middleOf(bucket, isFine);
  }
  return null;
}
