/** The maximum number of calls in flight of one activity; a run with more concurrency has several lanes. */
const LANE_CONCURRENCY = 50;
/**
 * At the end of a batch its lane waits for the slowest call, so batches are large. They are small enough that lanes of different
 * speed share a large run, and that waiting runs of a workspace soon get a slot.
 */
const MAX_BATCH_SIZE = 2_500;

/** How a run is divided: `lanes` activities at a time, each working on one batch of consecutive examples. */
export interface EvaluationPlan {
  /** The calls in flight of each lane; their sum is the run's concurrency. */
  lanes: number[];
  batchSize: number;
  batches: number;
}

/**
 * Plans a run over `examples` with at most `concurrency` calls in flight. Running workflows number their batches with it, also
 * after they have continued as new.
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
