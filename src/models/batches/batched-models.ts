import type { BatchCounts } from '../../domain/batches/batch-mode.ts';
import type { Pricing } from '../../domain/usage.ts';
import type { ModelCall, ModelResponse } from '../model-call.ts';
import type { HttpProvider } from '../providers/registry.ts';

/** A call for a batch. */
export type BatchedCall = Omit<ModelCall, 'onDelta' | 'timeoutMs'>;

/** A provider's limits for one batch, and its features. */
export interface BatchLimits {
  items: number;
  bytes: number;
  /**
   * Whether the provider stores our id with a batch. If not, a batch that may have been created is identified only by its content, at the
   * latest when it has ended, and is never created again automatically.
   */
  hasTag: boolean;
}

/** Identifies a batch on our side. */
export interface BatchRef {
  provider: HttpProvider;
  model: string;
  /** Our public id (`batch_…`): the provider's tag, and the prefix of the ids of its calls. */
  tag: string;
}

/** A call as a line of a batch's file. */
export interface BatchLine {
  /** Ends with a line feed. */
  text: string;
  /** The maximum output tokens that its request allows; undefined if not set. */
  maxOutputTokens: number | undefined;
}

/** The file of a future batch: one call per line, as created by `toLine`. */
export interface BatchFile {
  path: string;
  bytes: number;
  items: number;
}

/** The state of a batch as reported by its provider. */
export interface BatchState {
  providerBatchId: string;
  /**
   * `ended`: results of all or some calls are available; `expired` and `canceled` too, with what was finished before. `rejected`: nothing
   * ran or was billed.
   */
  status: 'in_progress' | 'ended' | 'expired' | 'canceled' | 'rejected';
  /** The provider's own name for it. */
  providerStatus: string;
  counts: BatchCounts | null;
  submittedAt: Date | null;
  expiresAt: Date | null;
  /**
   * Why it was rejected; `retryable` if the provider may accept the same batch later, for example because its queue was full.
   */
  error: { code: string; message: string; retryable: boolean } | null;
  /** Files with its input and results, read by `results` and finally deleted. */
  files: string[];
}

/** The result of one call; `text` is the line that the provider sent. */
export interface BatchResult {
  customId: string;
  /**
   * `responded`: `body` is the response of an interactive call, with `httpStatus`. `unfinished`: the batch was canceled or expired
   * before. `failed`: the model did not respond; see `error`.
   */
  kind: 'responded' | 'unfinished' | 'failed';
  httpStatus: number;
  body: unknown;
  /** The length of the provider's result, in bytes. */
  bytes: number;
  error?: { code: string; message: string };
}

/** Whether a batch that may have been created exists. */
export type SoughtBatch =
  | { kind: 'found'; state: BatchState }
  /** The complete list was searched without finding it. */
  | { kind: 'absent' }
  /** A batch without a tag that may match: it can only be verified when it has ended. */
  | { kind: 'undecided' };

/**
 * Models behind their providers' batch APIs. Each function makes one attempt and takes a signal. All throw ModelError, whose `retryable`
 * and `retryAfterMs` say whether and when a retry may succeed. The price of a call in a batch is in its response.
 */
export interface BatchedModels {
  /**
   * Why a model cannot be called in batches here; undefined if it can. The model is assumed to be known and have credentials.
   */
  problemOf(model: string): string | undefined;
  /** The current price of a call in a batch. */
  priceOf(model: string, atInputTokens?: number): Pricing | null;
  limitsOf(provider: HttpProvider): BatchLimits;

  /** The id of a call in its batch: the tag and the example's position; `[A-Za-z0-9_-]{1,64}`. */
  customIdOf(ref: BatchRef, seq: number): string;
  /** The example's position from an id created by `customIdOf` for this batch; undefined for other ids. */
  seqOf(ref: BatchRef, customId: string): number | undefined;
  /** The call as a line of the file. @throws ModelError `model_invalid_request` if the provider does not support the call */
  toLine(call: BatchedCall, customId: string): Promise<BatchLine>;

  /**
   * Uploads the file and creates the batch.
   * @throws SubmissionError with whether the provider may have created it
   */
  submit(ref: BatchRef, file: BatchFile, signal: AbortSignal): Promise<BatchState>;
  /**
   * Searches for a batch that may have been created since a given time. Without a tag, it has `items` calls, and `isKnown` says that it does not
   * belong to another row.
   */
  find(
    ref: BatchRef,
    sought: { since: Date; items: number; isKnown: (providerBatchId: string) => Promise<boolean> },
    signal: AbortSignal,
  ): Promise<SoughtBatch>;
  read(ref: BatchRef, providerBatchId: string, signal: AbortSignal): Promise<BatchState>;
  /** The results of its calls, in any order. A broken download throws and is restarted; repeated results are settled once. */
  results(ref: BatchRef, state: BatchState, signal: AbortSignal): AsyncIterable<BatchResult>;
  /** Cancels it; succeeds if it has already ended. */
  cancel(ref: BatchRef, providerBatchId: string, signal: AbortSignal): Promise<void>;
  /** Deletes files at the provider, including those of earlier attempts to upload the batch; succeeds if one is gone. */
  deleteFiles(ref: BatchRef, files: readonly string[], signal: AbortSignal): Promise<void>;

  /**
   * Converts a result to what `generate` would have returned for the call (`modelMs` 0), at batch prices.
   * @throws ModelError as `generate` does, for failed calls
   */
  toResponse(call: BatchedCall, result: BatchResult): Promise<ModelResponse>;
}
