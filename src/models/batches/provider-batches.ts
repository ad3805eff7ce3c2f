import type { StoredRequest } from '../http-models.ts';
import { ModelError } from '../model-error.ts';
import type { BatchFile, BatchLimits, BatchRef, BatchResult, BatchState, SoughtBatch } from './batched-models.ts';

/** What is sought, of a batch that may have been created. */
export interface Sought {
  since: Date;
  items: number;
  isKnown: (providerBatchId: string) => Promise<boolean>;
}

/** A batch as it is asked for: `modelId` is the provider's name of its model. */
export type ProviderBatchRef = BatchRef & { modelId: string };

/** A provider's batch API. Each function is as of `BatchedModels`. */
export interface ProviderBatches {
  limits: BatchLimits;
  /** A request as a line of the file, without its line feed. */
  lineOf(customId: string, request: StoredRequest): string;
  submit(ref: ProviderBatchRef, file: BatchFile, signal: AbortSignal): Promise<BatchState>;
  find(ref: ProviderBatchRef, sought: Sought, signal: AbortSignal): Promise<SoughtBatch>;
  read(providerBatchId: string, signal: AbortSignal): Promise<BatchState>;
  results(providerBatchId: string, signal: AbortSignal): AsyncIterable<BatchResult>;
  cancel(providerBatchId: string, signal: AbortSignal): Promise<void>;
  deleteFiles(ref: ProviderBatchRef, files: readonly string[], signal: AbortSignal): Promise<void>;
}

/** How far a provider's clock may be from ours. */
export const CLOCK_MARGIN_MS = 10 * 60_000;

/** For a request that may fail since what it is about is gone: it was deleted before, or has expired. */
export function ignoreGone(error: unknown): void {
  if (!(error instanceof ModelError) || error.code !== 'model_not_found') throw error;
}

/** Cancels by `ask`; that the batch has ended already is fine, and the provider refuses it. */
export async function cancelUnlessEnded(ask: () => Promise<unknown>, read: () => Promise<BatchState>): Promise<void> {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const { status } = await read();
    if (status === 'in_progress') throw error;
  }
}
