import type { RequestBody } from '../requests/json-body.ts';
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
  /** A request as an object that is a line of the file. */
  lineOf(customId: string, body: RequestBody, modelId: string): unknown;
  submit(ref: ProviderBatchRef, file: BatchFile, signal: AbortSignal): Promise<BatchState>;
  find(ref: ProviderBatchRef, sought: Sought, signal: AbortSignal): Promise<SoughtBatch>;
  read(providerBatchId: string, signal: AbortSignal): Promise<BatchState>;
  results(providerBatchId: string, signal: AbortSignal): AsyncIterable<BatchResult>;
  cancel(providerBatchId: string, signal: AbortSignal): Promise<void>;
  deleteFiles(ref: ProviderBatchRef, files: readonly string[], signal: AbortSignal): Promise<void>;
}

/** How far a provider's clock may be from ours. */
export const CLOCK_MARGIN_MS = 10 * 60_000;
