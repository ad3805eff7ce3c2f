import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { EvaluationActivities } from '../activities/evaluation-run/evaluation.ts';
import { LOCAL_STEP } from './local-steps.ts';

type LongSteps = Pick<EvaluationActivities, 'runBatch' | 'finishEvaluation'>;
type ShortSteps = Omit<EvaluationActivities, keyof LongSteps>;

/** The long-running steps of a run. */
export const evaluationActivities = proxyActivities<LongSteps>({
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** @param summary shown to operators next to it */
function step<Name extends keyof ShortSteps>(name: Name, summary: string) {
  return proxyLocalActivities<ShortSteps>({ ...LOCAL_STEP, summary, startToCloseTimeout: '30 seconds' })[name];
}

/** The short steps: one or two statements each. */
export const evaluationSteps = {
  readControl: step('readControl', 'reads the requests of the caller'),
  markRunning: step('markRunning', 'marks the run as running'),
  pauseForBudget: step('pauseForBudget', 'pauses the run: its budget is used up'),
  failEvaluation: step('failEvaluation', 'marks the run as failed'),
  readSpending: step('readSpending', 'reads the cost of the run so far'),
  sumUpProgress: step('sumUpProgress', 'sums up the progress'),
};
