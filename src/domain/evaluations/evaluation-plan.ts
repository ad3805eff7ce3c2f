/** One activity keeps at most this many calls in flight; a run with more concurrency has several lanes. */
const LANE_CONCURRENCY = 50;
/**
 * At the end of a batch its lane waits for the slowest call, so batches are large; and small enough that lanes of unequal speed
 * share a large run, and that runs of a workspace that wait for a place soon get one.
 */
const MAX_BATCH_SIZE = 2_500;

/** How a run is cut up: `lanes` activities at a time, each working on one batch of consecutive examples. */
export interface EvaluationPlan {
  /** Calls in flight of each lane; together they are the run's concurrency. */
  lanes: number[];
  batchSize: number;
  batches: number;
}

/**
 * Plans a run over `examples` with at most `concurrency` calls in flight. Runs under way number their batches by it, also after they have
 * continued as new.
 */
export function planEvaluation(examples: number, concurrency: number): EvaluationPlan {
  const count = Math.max(1, Math.min(Math.ceil(concurrency / LANE_CONCURRENCY), examples));
  const lanes = Array.from({ length: count }, (_, lane) => Math.floor((concurrency + lane) / count));
  const widest = Math.max(...lanes);
  const batchesALane = Math.max(1, Math.ceil(examples / (count * MAX_BATCH_SIZE)));
  const batchSize = Math.max(widest, Math.ceil(examples / (count * batchesALane)));
  return { lanes, batchSize, batches: Math.ceil(examples / batchSize) };
}

/** Examples of one batch: `from` inclusive, `to` exclusive. */
export function batchRange(
  { batchSize }: Pick<EvaluationPlan, 'batchSize'>,
  batch: number,
  examples: number,
): { from: number; to: number } {
  return { from: batch * batchSize, to: Math.min(examples, (batch + 1) * batchSize) };
}
