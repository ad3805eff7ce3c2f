import {
  ScheduleAlreadyRunning,
  type ScheduleOptionsStartWorkflowAction,
  ScheduleOverlapPolicy,
  type WorkflowStartOptions,
} from '@temporalio/client';
import { invalidField } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { evaluationScheduleId, scheduledEvaluationWorkflowId } from '../../temporal/names.ts';
import { isInvalidArgument, startOptions, TEMPORAL_DEADLINE_MS } from '../../temporal/workflows.ts';
import type { scheduledEvaluation } from '../../workflows/scheduled-evaluation.ts';
import type { ScheduledRequest, ScheduleRow } from './schedules.ts';
import type { Temporal } from './temporal-schedule.ts';

/** A start missed while Temporal was down is made up for if it is at most this old. */
const CATCH_UP_WINDOW = '1 hour';

/** The SDK sends a `priority`, but its type omits it. */
type Action = ScheduleOptionsStartWorkflowAction<typeof scheduledEvaluation> & Pick<WorkflowStartOptions, 'priority'>;

type StoredSchedule = Pick<ScheduleRow, 'id' | 'name' | 'cron' | 'time_zone' | 'paused' | 'request'>;

function examplesOf({ parsed: { dataset, examples = [] } }: ScheduledRequest): string {
  if (dataset === undefined) return `${examples.length} example${examples.length === 1 ? '' : 's'}`;
  return dataset.version === undefined ? dataset.name : `${dataset.name} v${dataset.version}`;
}

/** The action of a schedule. */
function actionOf(
  { taskQueues }: Temporal,
  workspaceId: string,
  { id, name, cron, time_zone: timezone, request }: StoredSchedule,
): Action {
  const prompt = request.parsed.promptName;
  return {
    type: 'startWorkflow',
    workflowType: 'scheduledEvaluation' satisfies typeof scheduledEvaluation.name,
    ...startOptions<Parameters<typeof scheduledEvaluation>>(taskQueues, {
      id: scheduledEvaluationWorkflowId(id),
      queue: 'evaluations',
      workspaceId,
      args: [{ scheduleId: id }],
      summary: `schedule "${name}": ${prompt} over ${examplesOf(request)}`,
      memo: { schedule: publicId('schedule', id), name, prompt, cron, time_zone: timezone },
      attributes: { prompt },
    }),
  };
}

/**
 * Creates a Schedule in Temporal; an existing one is left unchanged.
 * @throws ApiError `invalid_request` if Temporal refuses a cron expression
 */
export async function createInTemporal(
  temporal: Temporal,
  workspaceId: string,
  schedule: StoredSchedule,
): Promise<void> {
  const { client } = temporal;
  const { id, cron, time_zone: timezone, paused } = schedule;
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.create({
        scheduleId: evaluationScheduleId(id),
        spec: { cronExpressions: [cron], timezone },
        policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: CATCH_UP_WINDOW },
        state: { paused },
        action: actionOf(temporal, workspaceId, schedule),
      }),
    );
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    if (isInvalidArgument(error))
      throw invalidField('cron', 'must be five fields (minute hour day month weekday), such as "0 6 * * 1-5"');
    throw error;
  }
}

/**
 * Rewrites the action of a Schedule in Temporal, so that its payloads are encrypted with the current key. Otherwise they would
 * need their original key for as long as the Schedule exists. Its times and whether it is paused do not change.
 */
export async function encryptInTemporal(
  temporal: Temporal,
  workspaceId: string,
  schedule: StoredSchedule,
): Promise<void> {
  const { client } = temporal;
  await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
    client.schedule.getHandle(evaluationScheduleId(schedule.id)).update(({ policies, state }) => ({
      spec: { cronExpressions: [schedule.cron], timezone: schedule.time_zone },
      policies,
      state,
      action: actionOf(temporal, workspaceId, schedule),
    })),
  );
}
