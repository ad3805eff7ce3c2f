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

/** Starts the evaluation of a due schedule, which then runs independently. Its own id ensures that it starts only one. */
export async function scheduledEvaluation({ scheduleId }: ScheduledEvaluationInput): Promise<string> {
  setCurrentDetails('starting its evaluation');
  const outcome = await startScheduledEvaluation(scheduleId, workflowInfo().workflowId);
  setCurrentDetails(outcome);
  return outcome;
}
