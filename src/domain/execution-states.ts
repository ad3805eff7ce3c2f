import { defineStates } from './state-machine.ts';

/**
 * `queued`: no call has started; an execution that reuses a response is completed immediately. `running`: a call is in progress,
 * or waits to be retried. The others are final.
 */
export const executionStates = defineStates({
  queued: ['running', 'completed', 'failed', 'canceled'],
  running: ['running', 'completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
});

export type ExecutionStatus = (typeof executionStates.states)[number];

/** The states of a run that was made elsewhere: it is stored with its outcome. */
export const RECORDED_EXECUTION = ['completed', 'failed'] as const satisfies ExecutionStatus[];

/** Executions that have a workflow. */
export const UNFINISHED_EXECUTION = ['queued', 'running'] as const satisfies ExecutionStatus[];
