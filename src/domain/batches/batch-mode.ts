/**
 * How a run's models are called, as requested by its caller. `auto`: `batch` if every model of the run supports batches,
 * otherwise `interactive`.
 */
export const EVALUATION_MODES = ['interactive', 'batch', 'auto'] as const;
export type EvaluationMode = (typeof EVALUATION_MODES)[number];

/** What happens to examples without a response when `max_wait` is over. */
export const BATCH_LEFTOVERS = ['interactive', 'fail'] as const;

/** The settings of a run that is `batch` or `auto`. */
export interface BatchSettings {
  /** The seconds that the run waits for each of its batches, from its submission. */
  max_wait: number;
  /** `interactive`: they are called one by one, within `max_cost`. `fail`: they count as failed. */
  then: (typeof BATCH_LEFTOVERS)[number];
}

export const DEFAULT_MAX_WAIT_SECONDS = 24 * 60 * 60;

/** The content of a batch: the calls of a run's model, or those of one of its judges. */
export const BATCH_WAVES = ['responses', 'judgements'] as const;
export type BatchWave = (typeof BATCH_WAVES)[number];

/** The number of calls of a batch by outcome, as reported by the provider. */
export interface BatchCounts {
  total: number;
  succeeded: number;
  failed: number;
}
