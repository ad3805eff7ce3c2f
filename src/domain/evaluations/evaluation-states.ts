import { defineStates } from '../state-machine.ts';

/**
 * `scheduled`: waits until it is due. `paused`: begins no more examples, by request or since its budget is used up; it returns
 * to the state it had before. `completed`, `failed` and `canceled` are left by a retry only.
 */
export const evaluationStates = defineStates({
  scheduled: ['running', 'paused', 'failed', 'canceled'],
  running: ['paused', 'completed', 'failed', 'canceled'],
  paused: ['scheduled', 'running', 'failed', 'canceled'],
  completed: ['running'],
  failed: ['scheduled', 'running'],
  canceled: ['scheduled', 'running'],
});

export type EvaluationStatus = (typeof evaluationStates.states)[number];

/** Runs that have a workflow. */
export const UNFINISHED_EVALUATION = ['scheduled', 'running', 'paused'] as const satisfies EvaluationStatus[];
/** Runs that have ended: a retry goes on with them. */
export const ENDED_EVALUATION = ['completed', 'failed', 'canceled'] as const satisfies EvaluationStatus[];

/** The error of a run whose workflow was canceled or terminated from outside. */
export const ENDED_BY_OPERATOR = {
  code: 'ended_by_operator',
  message:
    'An operator ended the run, or its end is missing from a restored database. Retry it to run the remaining examples.',
};
