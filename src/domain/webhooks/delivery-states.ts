import { defineStates } from '../state-machine.ts';

/**
 * Deliveries. `queued`: the first attempt has not ended. `waiting`: for a retry. An abandoned one can still become delivered or
 * failed: the result of an attempt that was in flight when its webhook was disabled or deleted is recorded.
 */
export const deliveryStates = defineStates({
  queued: ['waiting', 'delivered', 'failed', 'abandoned'],
  // A failed retry waits for the next one.
  waiting: ['waiting', 'delivered', 'failed', 'abandoned'],
  delivered: [],
  failed: [],
  abandoned: ['delivered', 'failed'],
});

export type DeliveryStatus = (typeof deliveryStates.states)[number];

/** States that are not final. */
export const UNFINISHED_DELIVERY = ['queued', 'waiting'] as const satisfies readonly DeliveryStatus[];
