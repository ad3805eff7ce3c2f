import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { EvaluationActivities } from '../activities/evaluation-run/evaluation.ts';
import { LOCAL_STEP } from './local-steps.ts';

/** The steps of a run that take long. */
export const evaluationActivities = proxyActivities<Pick<EvaluationActivities, 'runBatch' | 'finishEvaluation'>>({
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** The short ones: a statement or two each. */
export const evaluationSteps = proxyLocalActivities<Omit<EvaluationActivities, 'runBatch' | 'finishEvaluation'>>({
  ...LOCAL_STEP,
  startToCloseTimeout: '30 seconds',
});
