import { defineStates } from './state-machine.ts';

/** `queued`: no call was begun; one that reuses a response is completed at once. `running`: a call is under way, or waits to be tried again. The others are ends. */
export const executionStates = defineStates({
  queued: ['running', 'completed', 'failed', 'canceled'],
  running: ['running', 'completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
});

export type ExecutionStatus = (typeof executionStates.states)[number];

/** How a run that was made elsewhere is stored: with the end that it had. */
export const RECORDED_EXECUTION = ['completed', 'failed'] as const satisfies ExecutionStatus[];

/** Executions that have a workflow. */
export const UNFINISHED_EXECUTION = ['queued', 'running'] as const satisfies ExecutionStatus[];
