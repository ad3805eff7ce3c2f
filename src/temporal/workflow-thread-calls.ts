/** Under which name a thread finds its {@link ThreadData}. */
export const THREAD_DATA = 'thread for workflow code';

/** What a thread for workflow code is given. */
export interface ThreadData {
  /** Holds the counters below, as an Int32Array. */
  counters: SharedArrayBuffer;
  /** Whether the SDK keeps the call stack of every promise. */
  callStacks: boolean;
}

/** Where each counter is. They wrap around; only whether they differ or have changed counts. */
export const CALLS_BEGUN = 0;
export const CALLS_ENDED = 1;
/** Calls that the SDK wanted to be ended at a time limit: none means that it no longer makes them as it did. */
export const CALLS_WITH_TIMEOUT = 2;

/** Hooks on promises, for their call stacks, that the SDK was denied. */
export const HOOKS_DENIED = 3;

export const COUNTERS = 4;
