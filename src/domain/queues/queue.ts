/** The dataset version that contains the correction of a review. */
export interface ReviewCorrection {
  dataset: string;
  version: number;
}

/** How long an item is reserved for the reviewer who got it. */
export const LEASE_MINUTES = 15;
/** The maximum number of queues of a workspace. */
export const MAX_QUEUES = 100;
/** The maximum number of items of a queue. */
export const MAX_QUEUE_ITEMS = 100_000;
/** The maximum number of score names of a queue. */
export const MAX_QUEUE_SCORES = 20;
/** The maximum number of reviewers of one item. */
export const MAX_REVIEWERS = 10;
/** The maximum number of executions or examples named in one request. */
export const MAX_NAMED_ITEMS = 1_000;
/** The maximum number of executions that one request adds with a filter. */
export const MAX_FILTERED_ITEMS = 10_000;

/** `leased`: a reviewer holds it now; `skipped`: a reviewer has skipped it, and others can still get it. */
export const ITEM_STATES = ['pending', 'leased', 'completed', 'skipped'] as const;
export type ItemState = (typeof ITEM_STATES)[number];
