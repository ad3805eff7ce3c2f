export interface ProviderBatchInput {
  /** UUID of the row in `provider_batches`: what is to be done is there, not in the history. */
  batchId: string;
}

export async function providerBatch(_input: ProviderBatchInput): Promise<void> {}
