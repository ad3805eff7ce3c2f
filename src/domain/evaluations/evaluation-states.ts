import { defineStates } from '../state-machine.ts';

/**
 * `scheduled`: waits until it is due. `paused`: starts no more examples, by request or because its budget is used up; it returns
 * to its previous state. `completed`, `failed` and `canceled` are left only by a retry.
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
/** Ended runs, which a retry continues. */
export const ENDED_EVALUATION = ['completed', 'failed', 'canceled'] as const satisfies EvaluationStatus[];

/** The error of a run whose workflow was canceled or terminated from outside. */
export const ENDED_BY_OPERATOR = {
  code: 'ended_by_operator',
  message:
    'An operator ended the run, or its end is missing from a restored database. Retry it to run the remaining examples.',
};
