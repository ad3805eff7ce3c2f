import { isGrpcServiceError, ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';
import { evaluationScheduleId, scheduledEvaluationWorkflowId } from '../../temporal/names.ts';
import { TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { scheduledEvaluation } from '../../workflows/scheduled-evaluation.ts';
import type { NewEvaluation } from './create-evaluation.ts';

/** What a schedule runs: as the caller wrote it, for showing, and as it was understood, for running. */
export interface ScheduledRequest {
  body: JsonValue;
  parsed: NewEvaluation;
}

/** A row of `schedules`. */
export interface ScheduleRow {
  id: string;
  name: string;
  cron: string;
  time_zone: string;
  paused: boolean;
  request: ScheduledRequest;
  last_error: { code: string; message: string; at: string } | null;
  created_at: Date;
}

export const SCHEDULE_COLUMNS = 'id, name, cron, time_zone, paused, request, last_error, created_at';

export interface NewSchedule {
  name: string;
  cron: string;
  timeZone: string;
  paused: boolean;
  request: ScheduledRequest;
}

const GRPC_INVALID_ARGUMENT = 3;
/** A start that was missed while Temporal was away is made up for within this time. */
const CATCH_UP_WINDOW = '1 hour';

type Temporal = Pick<WorkflowStarter, 'client' | 'taskQueues'>;

function isInvalidArgument(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && Number(cause.code) === GRPC_INVALID_ARGUMENT;
}

/**
 * Makes the schedule in Temporal, then its row in the caller's transaction. Should the transaction fail, the schedule is
 * without a row, and takes itself away when it is due.
 * @throws ApiError `invalid_request` on a cron expression that Temporal refuses
 */
export async function createSchedule(
  { client, taskQueues }: Temporal,
  query: Query,
  { name, cron, timeZone, paused, request }: NewSchedule,
): Promise<ScheduleRow> {
  const id = newId();
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.create({
        scheduleId: evaluationScheduleId(id),
        spec: { cronExpressions: [cron], timezone: timeZone },
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
    if (isInvalidArgument(error))
      throw invalidField('cron', 'must be five fields (minute hour day month weekday), such as "0 6 * * 1-5"');
    throw error;
  }
  const [row] = await query<ScheduleRow>(
    {
      text: `insert into schedules (workspace_id, id, name, cron, time_zone, paused, request, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, now()) returning ${SCHEDULE_COLUMNS}`,
    },
    [id, name, cron, timeZone, paused, request],
  );
  if (row === undefined) throw new Error('An insert without a row.');
  return row;
}

/** @throws ApiError `not_found` */
export async function getSchedule(db: WorkspaceDatabase, id: string | undefined): Promise<ScheduleRow> {
  const [row] =
    id === undefined
      ? []
      : await db.query<ScheduleRow>(
          { text: `select ${SCHEDULE_COLUMNS} from schedules where workspace_id = $1 and id = $2` },
          [id],
        );
  if (!row) throw notFound('This schedule');
  return row;
}

/** Schedules, newest first, `limit + 1` of them before the id `before`. */
export function listSchedules(
  db: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
): Promise<ScheduleRow[]> {
  return db.query<ScheduleRow>(
    {
      text: `select ${SCHEDULE_COLUMNS} from schedules where workspace_id = $1 and ($2::uuid is null or id < $2)
             order by id desc limit $3`,
    },
    [before ?? null, limit + 1],
  );
}

/** When a schedule is next due, as Temporal has it; empty while it is paused or gone. */
export async function nextRuns({ client }: Temporal, row: ScheduleRow): Promise<Date[]> {
  try {
    const { info, state } = await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.schedule.getHandle(evaluationScheduleId(row.id)).describe(),
    );
    return state.paused ? [] : info.nextActionTimes.slice(0, 5);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return [];
    throw error;
  }
}

async function onSchedule(
  { client }: Temporal,
  id: string,
  action: 'pause' | 'unpause' | 'trigger' | 'delete',
): Promise<void> {
  await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, async () => {
    await client.schedule.getHandle(evaluationScheduleId(id))[action]();
  });
}

/** @throws ApiError `not_found` */
export async function setSchedulePaused(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string | undefined,
  paused: boolean,
): Promise<ScheduleRow> {
  const current = await getSchedule(db, id);
  await onSchedule(temporal, current.id, paused ? 'pause' : 'unpause');
  await db.query({ text: 'update schedules set paused = $3 where workspace_id = $1 and id = $2' }, [
    current.id,
    paused,
  ]);
  return getSchedule(db, current.id);
}

/** Starts an evaluation now, whether the schedule is paused or not. @throws ApiError `not_found` */
export async function triggerSchedule(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string | undefined,
): Promise<ScheduleRow> {
  const row = await getSchedule(db, id);
  await onSchedule(temporal, row.id, 'trigger');
  return row;
}

/** Evaluations that it started stay. @throws ApiError `not_found` */
export async function deleteSchedule(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string | undefined,
): Promise<ScheduleRow> {
  const row = await getSchedule(db, id);
  try {
    await onSchedule(temporal, row.id, 'delete');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
  await db.query({ text: 'delete from schedules where workspace_id = $1 and id = $2' }, [row.id]);
  return row;
}
