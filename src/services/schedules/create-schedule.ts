import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { withdrawWithRetries } from '../acceptance/withdrawal.ts';
import { recordChange } from '../audit/record-change.ts';
import { createInTemporal } from './create-in-temporal.ts';
import { getSchedule, type ScheduledRequest, type ScheduleRow } from './schedules.ts';
import { dueTimes, type Temporal } from './temporal-schedule.ts';

/** How long a caller waits for the withdrawal. */
const WITHDRAW_WITHIN_MS = 1_000;

export interface NewSchedule {
  name: string;
  cron: string;
  timeZone: string;
  paused: boolean;
  request: ScheduledRequest;
  /** Encrypted; null if its evaluators have none. */
  evaluatorSecrets: Buffer | null;
}

/** Stores a schedule, in the caller's transaction. It starts nothing until {@link startSchedule} is called. */
export async function storeSchedule(
  query: Query,
  id: string,
  { name, cron, timeZone, paused, request, evaluatorSecrets }: NewSchedule,
): Promise<void> {
  await query((db) =>
    db.insertInto('schedules').values({
      id,
      name,
      cron,
      time_zone: timeZone,
      paused,
      request: asJson(request),
      evaluator_secrets: evaluatorSecrets,
      created_at: now,
    }),
  );
}

/**
 * Creates a stored schedule in Temporal and marks it as accepted: from then on it starts evaluations. Safe to repeat.
 * @throws ApiError `invalid_request` if Temporal refuses a cron expression; `temporarily_unavailable` if an earlier request with
 * the same key had to withdraw it
 */
export async function startSchedule(
  temporal: Temporal,
  db: WorkspaceDatabase,
  id: string,
): Promise<{ row: ScheduleRow; due: Date[] }> {
  try {
    await createInTemporal(temporal, db.workspaceId, await getSchedule(db, id));
    const due = (await dueTimes(temporal, id)) ?? [];
    await db.transaction((query) => accept(query, id));
    return { row: await getSchedule(db, id), due };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
  }
  throw temporarilyUnavailable('The schedule could not be created.');
}

async function accept(query: Query, id: string): Promise<void> {
  const [accepted] = await query((own) =>
    own
      .updateTable('schedules')
      .set({ accepted_at: now })
      .where('id', '=', id)
      .where('accepted_at', 'is', null)
      .returning(['name', 'cron', 'time_zone', 'paused']),
  );
  if (accepted) await recordChange(query, 'schedule.created', publicId('schedule', id), accepted);
}

/**
 * Withdraws a schedule with its idempotency key. If Temporal has it, it is deleted there when it is next due.
 * @param query bound to its workspace
 * @param force also withdraw an accepted one
 */
export async function withdrawSchedule(query: Query, id: string, force: boolean): Promise<void> {
  await query((db) =>
    db
      .with('gone', (cte) =>
        cte
          .deleteFrom('schedules')
          .where('id', '=', id)
          .$if(!force, (unaccepted) => unaccepted.where('accepted_at', 'is', null))
          .returning(sql<string>`id::text`.as('resource_id')),
      )
      .deleteFrom('idempotency_keys as k')
      .using('gone')
      .whereRef('k.resource_id', '=', 'gone.resource_id'),
  );
}

/**
 * Makes sure that a schedule starts nothing, before its caller receives the error. If the database is down, the schedule is
 * withdrawn once it is back; until it is accepted, it starts nothing anyway.
 */
export async function giveUpSchedule(log: Logger, db: WorkspaceDatabase, id: string): Promise<void> {
  const withdraw = () => withdrawSchedule(db.query, id, true);
  await withdrawWithRetries(log, { field: 'schedule_id', id, withdraw }, WITHDRAW_WITHIN_MS);
}
