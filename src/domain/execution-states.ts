import { defineStates } from './state-machine.ts';

/** `queued` → `running` → an end. Another attempt at a call leads from `running` to `running`. */
export const EXECUTION_STATES = defineStates({
  queued: ['running', 'failed', 'canceled'],
  running: ['running', 'completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
});

export type ExecutionStatus = (typeof EXECUTION_STATES.states)[number];

/** States of an execution that has not ended. */
export const UNFINISHED = EXECUTION_STATES.in(['queued', 'running']);
