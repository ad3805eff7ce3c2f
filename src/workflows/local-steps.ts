import type { LocalActivityOptions } from '@temporalio/workflow';

/** Options of short steps, of a statement or two each: they run in the worker that has the workflow. */
export const LOCAL_STEP = {
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute' },
  // A longer wait becomes a timer: a task that is kept open through an outage would fill the history.
  localRetryThreshold: '10 seconds',
} as const satisfies LocalActivityOptions;
