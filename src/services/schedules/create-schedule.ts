import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { withdrawOrGoOn } from '../acceptance/withdrawal.ts';
import { createInTemporal } from './create-in-temporal.ts';
import { getSchedule, SCHEDULE_COLUMNS, type ScheduledRequest, type ScheduleRow } from './schedules.ts';
import { dueTimes, type Temporal } from './temporal-schedule.ts';

/** How long a caller is kept waiting for it. */
const WITHDRAW_WITHIN_MS = 1_000;

export interface NewSchedule {
  name: string;
  cron: string;
  timeZone: string;
  paused: boolean;
  request: ScheduledRequest;
}

/** Stores a schedule, in the caller's transaction. It starts nothing before {@link startSchedule}. */
export async function storeSchedule(
  query: Query,
  id: string,
  { name, cron, timeZone, paused, request }: NewSchedule,
): Promise<void> {
  await query(
    {
      text: `insert into schedules (workspace_id, id, name, cron, time_zone, paused, request, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, now())`,
    },
    [id, name, cron, timeZone, paused, request],
  );
}

const ACCEPT = {
  text: `update schedules set accepted_at = coalesce(accepted_at, now()) where workspace_id = $1 and id = $2
         returning ${SCHEDULE_COLUMNS}`,
};

/**
 * Makes a stored schedule in Temporal and marks it as one whose caller is told of it: from then on it starts evaluations. Safe
 * to repeat.
 * @throws ApiError `invalid_request` on a cron expression that Temporal refuses; `temporarily_unavailable` where an earlier
 * request with the same key had to withdraw it
 */
export async function startSchedule(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string,
): Promise<{ row: ScheduleRow; due: Date[] }> {
  try {
    await createInTemporal(temporal, await getSchedule(db, id));
    const due = (await dueTimes(temporal, id)) ?? [];
    const [row] = await db.query<ScheduleRow>(ACCEPT, [id]);
    if (row) return { row, due };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
  }
  throw temporarilyUnavailable('The schedule could not be made.');
}

const WITHDRAW = {
  text: `with gone as (
           delete from schedules where workspace_id = $1 and id = $2 and (accepted_at is null or $3) returning workspace_id, id
         ) delete from idempotency_keys k using gone
           where k.workspace_id = gone.workspace_id and k.resource_id = gone.id::text`,
};

/**
 * Withdraws a schedule with its idempotency key. What Temporal may have of it takes itself away when it is due.
 * @param query bound to its workspace
 * @param force also one that its caller was about to be told of
 */
export async function withdrawSchedule(query: Query, id: string, force: boolean): Promise<void> {
  await query(WITHDRAW, [id, force]);
}

/**
 * Makes sure, before its caller is told that it failed, that a schedule starts nothing. Where the database is away, it is
 * withdrawn once that is back; one that was not accepted starts nothing meanwhile.
 */
export async function giveUpSchedule(log: Logger, db: WorkspaceDatabase, id: string): Promise<void> {
  const withdraw = () => withdrawSchedule(db.query, id, true);
  await withdrawOrGoOn(log, { field: 'schedule_id', id, withdraw }, WITHDRAW_WITHIN_MS);
}
