import { ScheduleNotFoundError } from '@temporalio/client';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';
import { scheduleStates } from '../../domain/schedule-states.ts';
import type { NewEvaluation } from './create-evaluation.ts';
import { actInTemporal, createInTemporal, type Temporal } from './temporal-schedule.ts';

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

/**
 * Makes the schedule in Temporal, then its row in the caller's transaction. Should the transaction fail, the schedule is
 * without a row, and takes itself away when it is due.
 * @throws ApiError `invalid_request` on a cron expression that Temporal refuses
 */
export async function createSchedule(
  temporal: Temporal,
  query: Query,
  { name, cron, timeZone, paused, request }: NewSchedule,
): Promise<ScheduleRow> {
  const id = newId();
  await createInTemporal(temporal, { id, name, cron, time_zone: timeZone, paused });
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

/** Schedules, newest first, a page of at most `limit` before the id `before`. */
export function listSchedules(
  db: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
): Promise<Page<ScheduleRow>> {
  const select = `select ${SCHEDULE_COLUMNS}, bytes from schedules
                  where workspace_id = $1 and ($2::uuid is null or id < $2)`;
  return readPage<ScheduleRow>(db.query, { select, orderBy: 'id desc', bytes: 'bytes' }, [before ?? null], limit);
}

/** Does something to a schedule in Temporal, where it is made anew if Temporal has lost it. */
async function actOn(temporal: Temporal, row: ScheduleRow, action: 'pause' | 'unpause' | 'trigger'): Promise<void> {
  try {
    await actInTemporal(temporal, row.id, action);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await createInTemporal(temporal, row);
    await actInTemporal(temporal, row.id, action);
  }
}

/** @throws ApiError `not_found` */
export async function setSchedulePaused(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string | undefined,
  paused: boolean,
): Promise<ScheduleRow> {
  const current = await getSchedule(db, id);
  await actOn(temporal, current, paused ? 'pause' : 'unpause');
  const { set, where } = scheduleStates.change({ to: paused ? 'paused' : 'active' });
  await db.query({ text: `update schedules set ${set} where workspace_id = $1 and id = $2 and ${where}` }, [
    current.id,
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
  await actOn(temporal, row, 'trigger');
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
    await actInTemporal(temporal, row.id, 'delete');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
  await db.query({ text: 'delete from schedules where workspace_id = $1 and id = $2' }, [row.id]);
  return row;
}
