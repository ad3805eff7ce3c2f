import type { WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { type Builder, prepared, type RowOf } from '../../db/statement.ts';
import { notFound } from '../../domain/errors.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { NewEvaluation } from '../evaluations/creation/create-evaluation.ts';

/** What a schedule runs, without secrets: `body` as the caller wrote it, to show; `parsed` to run. */
export interface ScheduledRequest {
  body: Record<string, JsonValue>;
  parsed: Omit<NewEvaluation, 'evaluatorSecrets'>;
}

export const SCHEDULE_COLUMNS = [
  'id',
  'name',
  'cron',
  'time_zone',
  'paused',
  'request',
  'last_error',
  'created_at',
] as const;

const selectSchedules = (db: Builder) =>
  db.selectFrom('schedules').select(SCHEDULE_COLUMNS).$narrowType<{ request: ScheduledRequest }>();

const FIND = prepared<{ id: string }>()((db, { id }) => selectSchedules(db).where('id', '=', id));
export type ScheduleRow = RowOf<typeof FIND>;

/** @throws ApiError `not_found` */
export async function getSchedule(db: WorkspaceDatabase, id: string): Promise<ScheduleRow> {
  const [row] = await db.query(FIND, { id });
  if (!row) throw notFound('This schedule');
  return row;
}

/** Schedules, newest first, a page of at most `limit` before the id `before`. */
export function listSchedules(
  db: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
): Promise<Page<ScheduleRow>> {
  const select = (own: Builder) =>
    selectSchedules(own)
      .select('bytes')
      .$if(before !== undefined, (all) => all.where('id', '<', before ?? ''));
  return selectPage(db.query, { select, orderBy: [['id', 'desc']], bytes: (eb) => eb.ref('bytes') }, limit);
}
