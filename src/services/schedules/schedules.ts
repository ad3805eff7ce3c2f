import type { WorkspaceDatabase } from '../../db/database.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { notFound } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { NewEvaluation } from '../evaluations/create-evaluation.ts';

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

/** @throws ApiError `not_found` */
export async function getSchedule(db: WorkspaceDatabase, id: string): Promise<ScheduleRow> {
  const [row] = await db.query<ScheduleRow>(
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
