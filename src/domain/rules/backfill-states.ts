import { defineStates } from '../state-machine.ts';

/** `paused`: by request, or because its budget is used up. The others are final. */
export const backfillStates = defineStates({
  running: ['paused', 'completed', 'failed', 'canceled'],
  paused: ['running', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
});

export type BackfillStatus = (typeof backfillStates.states)[number];
