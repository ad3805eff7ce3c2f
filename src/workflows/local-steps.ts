import type { LocalActivityOptions } from '@temporalio/workflow';

/** Options of short steps, one or two statements each: they run in the worker that has the workflow. */
export const LOCAL_STEP = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute' },
  // A longer wait becomes a timer: a task kept open through an outage would fill the history.
  localRetryThreshold: '10 seconds',
} as const satisfies LocalActivityOptions;
