import { defineStates } from './state-machine.ts';

/**
 * Deliveries. `queued`: before the end of the first attempt. `waiting`: for a retry. An abandoned one may still end otherwise:
 * what was on its way when its webhook was disabled or deleted has its result recorded.
 */
export const deliveryStates = defineStates({
  queued: ['waiting', 'delivered', 'failed', 'abandoned'],
  // A retry that fails waits for the next one.
  waiting: ['waiting', 'delivered', 'failed', 'abandoned'],
  delivered: [],
  failed: [],
  abandoned: ['delivered', 'failed'],
});

export type DeliveryStatus = (typeof deliveryStates.states)[number];

/** States of deliveries that are still to be sent. */
export const UNFINISHED_DELIVERY = ['queued', 'waiting'] as const satisfies readonly DeliveryStatus[];
