/** Which version of a dataset has the correction of a review. */
export interface ReviewCorrection {
  dataset: string;
  version: number;
}

/** How long an item is kept for whoever got it. */
export const LEASE_MINUTES = 15;
/** Queues of a workspace. */
export const MAX_QUEUES = 100;
/** Items of a queue. */
export const MAX_QUEUE_ITEMS = 100_000;
/** Names of scores of a queue. */
export const MAX_QUEUE_SCORES = 20;
/** People on one item. */
export const MAX_REVIEWERS = 10;
/** Executions or examples that are named at once. */
export const MAX_NAMED_ITEMS = 1_000;
/** Executions that one request adds by a filter. */
export const MAX_FILTERED_ITEMS = 10_000;

/** `leased`: somebody has it now; `skipped`: somebody has skipped it, and others may still take it. */
export const ITEM_STATES = ['pending', 'leased', 'completed', 'skipped'] as const;
export type ItemState = (typeof ITEM_STATES)[number];
