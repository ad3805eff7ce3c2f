import { defineStates } from '../state-machine.ts';

/**
 * `paused`: starts nothing more, by request or because `max_cost` is used up. `completed`: has a verdict, or found nothing to
 * judge. `failed` is left only by a retry.
 */
export const improvementStates = defineStates({
  running: ['paused', 'completed', 'failed', 'canceled'],
  paused: ['running', 'failed', 'canceled'],
  completed: [],
  failed: ['running'],
  canceled: [],
});

export type ImprovementStatus = (typeof improvementStates.states)[number];

/** Improvements that have a workflow. */
export const UNFINISHED_IMPROVEMENT = ['running', 'paused'] as const satisfies ImprovementStatus[];
/** Ended ones, of which `failed` can be retried. */
export const ENDED_IMPROVEMENT = ['completed', 'failed', 'canceled'] as const satisfies ImprovementStatus[];
