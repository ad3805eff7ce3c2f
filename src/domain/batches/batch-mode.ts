/** How a run's models are called, as its caller asked. `auto`: `batch` where every model of the run has batches, else `interactive`. */
export const EVALUATION_MODES = ['interactive', 'batch', 'auto'] as const;
export type EvaluationMode = (typeof EVALUATION_MODES)[number];

/** What becomes of examples without a response when `max_wait` is over. */
export const BATCH_LEFTOVERS = ['interactive', 'fail'] as const;

/** Of a run that is `batch` or `auto`. */
export interface BatchSettings {
  /** Seconds that the run waits for each of its batches, from its submission. */
  max_wait: number;
  /** `interactive`: they are called one by one, within `max_cost`. `fail`: they count as failed. */
  then: (typeof BATCH_LEFTOVERS)[number];
}

export const DEFAULT_MAX_WAIT_SECONDS = 24 * 60 * 60;

/** What a batch holds: the calls of a run's model, or those of one of its judges. */
export const BATCH_WAVES = ['responses', 'judgements'] as const;
export type BatchWave = (typeof BATCH_WAVES)[number];

/** How many calls of a batch have come to what, as the provider says. */
export interface BatchCounts {
  total: number;
  succeeded: number;
  failed: number;
}
