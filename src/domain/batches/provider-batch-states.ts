import { defineStates } from '../state-machine.ts';

/**
 * `preparing`: its calls are being selected; also again after the provider has refused it for now. `submitting`: the intent is
 * stored, and the provider may have it. `unknown`: the provider may have it, but did not confirm: the service searches for it,
 * and only a person can resubmit it. `settling`: the provider has ended it, and its responses are being stored. `expired`,
 * `canceled`: what the provider had finished is stored, too.
 */
export const providerBatchStates = defineStates({
  preparing: ['submitting', 'completed', 'canceled', 'failed'],
  submitting: ['in_progress', 'preparing', 'unknown', 'failed', 'canceled'],
  unknown: ['preparing', 'in_progress', 'failed', 'canceled'],
  in_progress: ['settling', 'preparing'],
  settling: ['completed', 'failed', 'expired', 'canceled'],
  completed: [],
  failed: [],
  expired: [],
  canceled: [],
});

export type ProviderBatchStatus = (typeof providerBatchStates.states)[number];

/** Batches that have a workflow. */
export const UNFINISHED_PROVIDER_BATCH = [
  'preparing',
  'submitting',
  'unknown',
  'in_progress',
  'settling',
] as const satisfies ProviderBatchStatus[];
