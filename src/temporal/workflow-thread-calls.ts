/** Under which name a thread finds its counters: an Int32Array in shared memory. */
export const THREAD_CALLS = 'calls into workflow code';

/** Where each counter is. They wrap around; only whether they differ or have changed counts. */
export const CALLS_BEGUN = 0;
export const CALLS_ENDED = 1;
/** Calls that the SDK wanted to be ended at a time limit: none means that it no longer makes them as it did. */
export const CALLS_WITH_TIMEOUT = 2;

export const COUNTERS = 3;
