import { type RunScheduleDeps, runSchedule } from '../../services/schedules/run-schedule.ts';

export type ScheduleActivities = ReturnType<typeof createScheduleActivities>;

/** The step of the workflow `scheduledEvaluation`. It is idempotent. */
export function createScheduleActivities(deps: RunScheduleDeps) {
  return {
    /** Starts the evaluation of a due schedule and returns what happened. */
    startScheduledEvaluation: (scheduleId: string, workflowId: string): Promise<string> =>
      runSchedule(deps, scheduleId, workflowId),
  };
}
