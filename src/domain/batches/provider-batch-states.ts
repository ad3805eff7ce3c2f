import { defineStates } from '../state-machine.ts';

/**
 * `preparing`: its calls are being chosen; also again, where the provider has refused it for now. `submitting`: the intent is stored, the
 * provider may have it. `unknown`: the provider may have it, and did not say so: it is looked for, and submitted again only by hand. `settling`: the provider has ended it, and what it responded is
 * being stored. `expired`, `canceled`: what the provider finished before is stored, too.
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
