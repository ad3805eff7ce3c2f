import {
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import { invalidField } from '../../domain/errors.ts';
import { evaluationScheduleId, scheduledEvaluationWorkflowId } from '../../temporal/names.ts';
import { TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { scheduledEvaluation } from '../../workflows/scheduled-evaluation.ts';
import type { ScheduleRow } from './schedules.ts';

export type Temporal = Pick<WorkflowStarter, 'client' | 'taskQueues'>;

const GRPC_INVALID_ARGUMENT = 3;
/** A start that was missed while Temporal was away is made up for within this time. */
const CATCH_UP_WINDOW = '1 hour';

function isInvalidArgument(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && Number(cause.code) === GRPC_INVALID_ARGUMENT;
}

/**
 * Makes a Schedule of Temporal; one that is there already stays as it is.
 * @throws ApiError `invalid_request` on a cron expression that Temporal refuses
 */
export async function createInTemporal(
  { client, taskQueues }: Temporal,
  { id, name, cron, time_zone: timezone, paused }: Pick<ScheduleRow, 'id' | 'name' | 'cron' | 'time_zone' | 'paused'>,
): Promise<void> {
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.create({
        scheduleId: evaluationScheduleId(id),
        spec: { cronExpressions: [cron], timezone },
        policies: { overlap: ScheduleOverlapPolicy.ALLOW_ALL, catchupWindow: CATCH_UP_WINDOW },
        state: { paused },
        action: {
          type: 'startWorkflow',
          workflowType: 'scheduledEvaluation' satisfies typeof scheduledEvaluation.name,
          workflowId: scheduledEvaluationWorkflowId(id),
          taskQueue: taskQueues.evaluations,
          args: [{ scheduleId: id }],
          staticSummary: `schedule "${name}"`,
        },
      }),
    );
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    if (isInvalidArgument(error))
      throw invalidField('cron', 'must be five fields (minute hour day month weekday), such as "0 6 * * 1-5"');
    throw error;
  }
}

/** When a schedule is due next, as Temporal has it: empty while it is paused; undefined where Temporal has no such schedule. */
export async function dueTimes({ client }: Pick<Temporal, 'client'>, id: string): Promise<Date[] | undefined> {
  try {
    const { info, state } = await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.getHandle(evaluationScheduleId(id)).describe(),
    );
    return state.paused ? [] : info.nextActionTimes.slice(0, 5);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}

/** @throws ScheduleNotFoundError where Temporal has no such schedule */
export async function actInTemporal(
  { client }: Pick<Temporal, 'client'>,
  id: string,
  action: 'pause' | 'unpause' | 'trigger' | 'delete',
): Promise<void> {
  await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, async () => {
    await client.schedule.getHandle(evaluationScheduleId(id))[action]();
  });
}
