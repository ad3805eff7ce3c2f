/** One activity keeps at most this many calls in flight; a run with more concurrency has several lanes. */
const LANE_CONCURRENCY = 25;
/** Large enough that starting a batch costs little, small enough that the Temporal UI shows a run moving. */
const MAX_BATCH_SIZE = 1000;

/** How a run is cut up: `lanes` activities at a time, each working on one batch of consecutive examples. */
export interface EvaluationPlan {
  /** Calls in flight of each lane; together they are the run's concurrency. */
  lanes: number[];
  batchSize: number;
  batches: number;
}

/** Plans a run over `examples` with at most `concurrency` calls in flight. */
export function planEvaluation(examples: number, concurrency: number): EvaluationPlan {
  const count = Math.max(1, Math.min(Math.ceil(concurrency / LANE_CONCURRENCY), examples));
  const lanes = Array.from({ length: count }, (_, lane) => Math.floor((concurrency + lane) / count));
  const widest = Math.max(...lanes);
  // Two batches a lane even out lanes that differ in speed.
  const batchSize = Math.min(MAX_BATCH_SIZE, Math.max(widest, Math.ceil(examples / (count * 2))));
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
