import { defineStates } from '../state-machine.ts';

/**
 * `awaiting_approval`: people decide. `paused`: unchanged until resumed, by request or because an analysis was inconclusive.
 * `baking`: the label has moved, and moves back if a check fails. The others are final. `rolled_back`: by a check, an
 * evaluation, the deadline or a person. `failed`: a step was impossible, or the workflow was ended.
 */
export const releaseStates = defineStates({
  in_progress: [
    'paused',
    'awaiting_approval',
    'baking',
    'succeeded',
    'rolled_back',
    'failed',
    'superseded',
    'canceled',
  ],
  paused: ['in_progress', 'baking', 'succeeded', 'rolled_back', 'failed', 'superseded', 'canceled'],
  awaiting_approval: ['in_progress', 'succeeded', 'rolled_back', 'rejected', 'failed', 'superseded', 'canceled'],
  baking: ['paused', 'succeeded', 'rolled_back', 'failed', 'superseded'],
  succeeded: [],
  rolled_back: [],
  rejected: [],
  failed: [],
  superseded: [],
  canceled: [],
});

export type ReleaseStatus = (typeof releaseStates.states)[number];

/** Releases that have a workflow. A prompt's label has at most one. */
export const UNFINISHED_RELEASE = [
  'in_progress',
  'paused',
  'awaiting_approval',
  'baking',
] as const satisfies ReleaseStatus[];

export const isFinishedRelease = (status: ReleaseStatus): boolean => releaseStates.final.includes(status);
