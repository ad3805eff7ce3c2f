import { proxyActivities, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { ScheduleActivities } from '../activities/scheduled-evaluation/schedule.ts';

export interface ScheduledEvaluationInput {
  /** UUID of the row in `schedules`. */
  scheduleId: string;
}

const { startScheduledEvaluation } = proxyActivities<ScheduleActivities>({
  startToCloseTimeout: '1 minute',
  summary: 'starts the evaluation',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** A schedule is due: starts its evaluation, which then runs by itself. Its own id makes sure that it starts only one. */
export async function scheduledEvaluation({ scheduleId }: ScheduledEvaluationInput): Promise<string> {
  setCurrentDetails('starting its evaluation');
  const outcome = await startScheduledEvaluation(scheduleId, workflowInfo().workflowId);
  setCurrentDetails(outcome);
  return outcome;
}
