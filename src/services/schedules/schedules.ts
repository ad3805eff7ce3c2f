import type { WorkspaceDatabase } from '../../db/database.ts';
import type { Builder } from '../../db/statement.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import type { NewEvaluation } from '../evaluations/creation/create-evaluation.ts';
import { type RowIn, rowsBy } from '../named-rows.ts';

/** What a schedule runs, without secrets: `body` as written by the caller, to show; `parsed` to run. */
export interface ScheduledRequest {
  body: Record<string, JsonValue>;
  parsed: Omit<NewEvaluation, 'evaluatorSecrets'>;
}

const COLUMNS = ['id', 'name', 'cron', 'time_zone', 'paused', 'request', 'last_error', 'created_at', 'bytes'] as const;

const selectSchedules = (db: Builder) =>
  db.selectFrom('schedules').select(COLUMNS).$narrowType<{ request: ScheduledRequest }>();

export const SCHEDULES = rowsBy({
  select: selectSchedules,
  keys: ['id'],
  bytes: (eb) => eb.ref('bytes'),
  what: 'This schedule',
});
export type ScheduleRow = RowIn<typeof SCHEDULES>;

/** @throws ApiError `not_found` */
export const getSchedule = (db: WorkspaceDatabase, id: string): Promise<ScheduleRow> => SCHEDULES.get(db.query, { id });
