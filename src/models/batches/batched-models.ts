import type { BatchCounts } from '../../domain/batches/batch-mode.ts';
import type { Pricing } from '../../domain/usage.ts';
import type { ModelCall, ModelResponse } from '../model-call.ts';
import type { HttpProvider } from '../providers/registry.ts';

/** A call that goes into a batch. */
export type BatchedCall = Omit<ModelCall, 'onDelta' | 'timeoutMs'>;

/** What a provider takes at most in one batch, and how it can be asked. */
export interface BatchLimits {
  items: number;
  bytes: number;
  /**
   * Whether the provider stores our id with a batch. Where it does not, a batch that may have been created is found only by what is in it,
   * at the latest when it has ended, and it is never created a second time by itself.
   */
  hasTag: boolean;
}

/** A batch as our side knows it. */
export interface BatchRef {
  provider: HttpProvider;
  model: string;
  /** Our public id (`batch_…`): the provider's tag, and what the ids of its calls begin with. */
  tag: string;
}

/** A call as a line of a batch's file. */
export interface BatchLine {
  /** Ends in a line feed. */
  text: string;
  /** The most tokens of output that its request allows; undefined where it does not say. */
  maxOutputTokens: number | undefined;
}

/** A file that is to be a batch: a line a call, as `toLine` makes them. */
export interface BatchFile {
  path: string;
  bytes: number;
  items: number;
}

/** What a provider says of a batch. */
export interface BatchState {
  providerBatchId: string;
  /**
   * `ended`: results can be had, of all or some of its calls; `expired` and `canceled` too, with what was finished before. `rejected`: nothing was
   * run, and nothing is billed.
   */
  status: 'in_progress' | 'ended' | 'expired' | 'canceled' | 'rejected';
  /** As the provider calls it. */
  providerStatus: string;
  counts: BatchCounts | null;
  submittedAt: Date | null;
  expiresAt: Date | null;
  /** Why it was rejected; `retryable` where the provider may take the same batch later, as when its queue was full. */
  error: { code: string; message: string; retryable: boolean } | null;
  /** Files that hold its input and results, to be read by `results` and deleted in the end. */
  files: string[];
}

/** What came of one call; `text` is the line that the provider sent. */
export interface BatchResult {
  customId: string;
  /**
   * `responded`: `body` is what an interactive call would have got, with `httpStatus`. `unfinished`: the batch was canceled or expired before.
   * `failed`: there is no response of the model, and `error` says why.
   */
  kind: 'responded' | 'unfinished' | 'failed';
  httpStatus: number;
  body: unknown;
  /** The length of what the provider sent of it, in bytes. */
  bytes: number;
  error?: { code: string; message: string };
}

/** Whether a batch exists that may have been created. */
export type SoughtBatch =
  | { kind: 'found'; state: BatchState }
  /** All there is was seen, and it is not among it. */
  | { kind: 'absent' }
  /** A batch without tag that may be it: it is known when it has ended. */
  | { kind: 'undecided' };

/**
 * Models behind their providers' batch APIs. Each function makes one attempt at what it says and takes a signal. All throw ModelError, whose
 * `retryable` and `retryAfterMs` say whether and when it may succeed later. The price of a call in a batch is in its response.
 */
export interface BatchedModels {
  /** Why a model can't be called by batches here; undefined where it can. A known model with credentials is assumed. */
  problemOf(model: string): string | undefined;
  /** The price now of a call in a batch. */
  priceOf(model: string, atInputTokens?: number): Pricing | null;
  limitsOf(provider: HttpProvider): BatchLimits;

  /** The id of a call in its batch: the tag and the example's place; `[A-Za-z0-9_-]{1,64}`. */
  customIdOf(ref: BatchRef, seq: number): string;
  /** The example's place, from an id that `customIdOf` made for this batch; undefined where it is another's. */
  seqOf(ref: BatchRef, customId: string): number | undefined;
  /** A call as a line of the file. @throws ModelError `model_invalid_request` where the provider has no place for what is given */
  toLine(call: BatchedCall, customId: string): Promise<BatchLine>;

  /**
   * Uploads the file and creates the batch.
   * @throws SubmissionError which says whether the provider may have created it
   */
  submit(ref: BatchRef, file: BatchFile, signal: AbortSignal): Promise<BatchState>;
  /**
   * Looks for a batch that may have been created since a time. Without a tag, `known` are the ids of batches that are ours, and `items` how many
   * calls it has.
   */
  find(
    ref: BatchRef,
    sought: { since: Date; items: number; isKnown: (providerBatchId: string) => Promise<boolean> },
    signal: AbortSignal,
  ): Promise<SoughtBatch>;
  read(ref: BatchRef, providerBatchId: string, signal: AbortSignal): Promise<BatchState>;
  /** What came of its calls, in any order. A broken download throws: it is begun again, and what comes twice is settled once. */
  results(ref: BatchRef, state: BatchState, signal: AbortSignal): AsyncIterable<BatchResult>;
  /** Asks to cancel it; that it has ended already is fine. */
  cancel(ref: BatchRef, providerBatchId: string, signal: AbortSignal): Promise<void>;
  /** Deletes files at the provider, also those of earlier attempts to upload the batch; that one is gone is fine. */
  deleteFiles(ref: BatchRef, files: readonly string[], signal: AbortSignal): Promise<void>;

  /**
   * What a result means for the call that was made, as `generate` would have returned it (`modelMs` 0), at the price of batches.
   * @throws ModelError as `generate` does, for what failed
   */
  toResponse(call: BatchedCall, result: BatchResult): Promise<ModelResponse>;
}
