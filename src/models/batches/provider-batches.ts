import type { StoredRequest } from '../http-models.ts';
import { ModelError } from '../model-error.ts';
import type { BatchFile, BatchLimits, BatchRef, BatchResult, BatchState, SoughtBatch } from './batched-models.ts';

/** Describes a batch that may have been created. */
export interface Sought {
  since: Date;
  items: number;
  isKnown: (providerBatchId: string) => Promise<boolean>;
}

/** A batch in a request: `modelId` is the provider's name of its model. */
export type ProviderBatchRef = BatchRef & { modelId: string };

/** A provider's batch API. Each function is as in `BatchedModels`. */
export interface ProviderBatches {
  limits: BatchLimits;
  /** The request as a line of the file, without its line feed. */
  lineOf(customId: string, request: StoredRequest): string;
  submit(ref: ProviderBatchRef, file: BatchFile, signal: AbortSignal): Promise<BatchState>;
  find(ref: ProviderBatchRef, sought: Sought, signal: AbortSignal): Promise<SoughtBatch>;
  read(providerBatchId: string, signal: AbortSignal): Promise<BatchState>;
  results(providerBatchId: string, signal: AbortSignal): AsyncIterable<BatchResult>;
  cancel(providerBatchId: string, signal: AbortSignal): Promise<void>;
  deleteFiles(ref: ProviderBatchRef, files: readonly string[], signal: AbortSignal): Promise<void>;
}

/** Allowed difference between a provider's clock and ours. */
export const CLOCK_MARGIN_MS = 10 * 60_000;

/** Ignores an error if the target is gone: deleted before, or expired. */
export function ignoreGone(error: unknown): void {
  if (!(error instanceof ModelError) || error.code !== 'model_not_found') throw error;
}

/** Cancels through `ask`; ignores the refusal if the batch has already ended. */
export async function cancelUnlessEnded(ask: () => Promise<unknown>, read: () => Promise<BatchState>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { status } = await read();
    if (status === 'in_progress') throw error;
  }
}
