import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { EvaluationActivities } from '../activities/evaluation-run/evaluation.ts';

/** The steps of a run that take long. */
export const evaluationActivities = proxyActivities<Pick<EvaluationActivities, 'runBatch' | 'finishEvaluation'>>({
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** The short ones: a statement or two each. */
export const evaluationSteps = proxyLocalActivities<Omit<EvaluationActivities, 'runBatch' | 'finishEvaluation'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute' },
  // A longer wait becomes a timer: a task that is kept open through an outage would fill the history.
  localRetryThreshold: '10 seconds',
});
