/** The growth factor of latencies from one bucket to the next. */
const BUCKET_GROWTH = 1.02;

/** The last bucket also contains everything from 2 hours on. */
export const LAST_LATENCY_BUCKET = 800;

/** Sums of a value that is measured once for each of `count` executions. */
export interface ValueSums {
  count: number;
  sum: number;
  /** The sum of the squares. */
  squares: number;
}

/** The sums over the executions of one arm in a time span. Sums of disjoint spans can be added ({@link addSums}). */
export interface ArmSums {
  /** Ended executions: completed or failed. */
  executions: number;
  /** Failed executions. */
  errors: number;
  /** The number of executions by {@link latencyBucket}. Empty buckets may be missing. */
  latency: Readonly<Record<number, number>>;
  /** In USD, over executions whose cost is known. */
  cost: ValueSums;
  /** By score name. */
  scores: Readonly<Record<string, ValueSums>>;
  /** The same of whole traces. */
  traces?: ArmSums | undefined;
}

export const NO_VALUES: ValueSums = { count: 0, sum: 0, squares: 0 };

export const NO_SUMS: ArmSums = { executions: 0, errors: 0, latency: {}, cost: NO_VALUES, scores: {} };

/**
 * The bucket of a latency in ms: bucket b contains those from 1.02^b to 1.02^(b + 1), the first one also shorter ones. In SQL:
 * `least(800, floor(ln(greatest(ms, 1)) / ln(1.02)))`.
 */
export function latencyBucket(ms: number): number {
  return Math.min(LAST_LATENCY_BUCKET, Math.floor(Math.log(Math.max(ms, 1)) / Math.log(BUCKET_GROWTH)));
}

/** The shortest latency of a bucket, in ms. */
export const latencyBucketStart = (bucket: number) => (bucket === 0 ? 0 : BUCKET_GROWTH ** bucket);

/** The upper limit of the latencies of a bucket, exclusive, in ms; infinite for the last one. */
export const latencyBucketEnd = (bucket: number) =>
  bucket === LAST_LATENCY_BUCKET ? Number.POSITIVE_INFINITY : BUCKET_GROWTH ** (bucket + 1);

/** Adds sums of minutes, hours or processes. */
export function addSums(all: Iterable<ArmSums>): ArmSums {
  let executions = 0;
  let errors = 0;
  let cost = NO_VALUES;
  const latency: Record<number, number> = {};
  const scores = new Map<string, ValueSums>();
  for (const sums of all) {
    executions += sums.executions;
    errors += sums.errors;
    cost = addValues(cost, sums.cost);
    for (const [bucket, count] of Object.entries(sums.latency))
      latency[Number(bucket)] = (latency[Number(bucket)] ?? 0) + count;
    for (const [name, values] of Object.entries(sums.scores))
      scores.set(name, addValues(scores.get(name) ?? NO_VALUES, values));
  }
  return { executions, errors, latency, cost, scores: Object.fromEntries(scores) };
}

function addValues(a: ValueSums, b: ValueSums): ValueSums {
  return { count: a.count + b.count, sum: a.sum + b.sum, squares: a.squares + b.squares };
}
