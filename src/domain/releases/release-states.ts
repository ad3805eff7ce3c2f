import { defineStates } from '../state-machine.ts';

/**
 * `awaiting_approval`: people decide. `paused`: stays as it is, by request or since an analysis was inconclusive. `baking`: the label
 * has moved, and moves back where a check fails. The others are ends.
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

/** Releases that have a workflow. A prompt's label has one at most. */
export const UNFINISHED_RELEASE = [
  'in_progress',
  'paused',
  'awaiting_approval',
  'baking',
] as const satisfies ReleaseStatus[];

export const isFinishedRelease = (status: ReleaseStatus): boolean => releaseStates.final.includes(status);
