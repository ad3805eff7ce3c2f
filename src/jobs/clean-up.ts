import type { Query, SystemDatabase } from '../db/database.ts';
import { deleteInBatches, pause } from '../db/delete-in-batches.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';
import { expireEvaluations, expireExecutions } from './retention.ts';
import { sweep } from './sweep.ts';

/** For how long the step that starts the evaluation of a schedule may be retried. */
const OCCURRENCE_DAYS = 7;
/** Events a transaction. */
const BATCH_SIZE = 2_000;

const OLD_EVENTS = {
  text: `select id from events
         where id > $1 and id < $2 and created_at < now() - make_interval(secs => $3) and dispatched_at is not null
           and not exists (select from deliveries
             where event_id = events.id and (status in ('queued', 'waiting') or to_end))
         order by id limit ${BATCH_SIZE} for update of events skip locked`,
};
/** Looked at again, now that no one can ask for another delivery of a locked event. */
const DELETE_EVENTS = {
  text: `with gone as (
           delete from events where id = any($1) and not exists (select from deliveries
             where event_id = events.id and (status in ('queued', 'waiting') or to_end))
           returning id
         ) delete from deliveries where event_id in (select id from gone)`,
};
/** @returns the last one looked at; undefined where there are no more */
async function deleteSomeEvents(query: Query, after: string, before: string, ageSeconds: number) {
  const found = await query<{ id: string }>(OLD_EVENTS, [after, before, ageSeconds]);
  if (found.length > 0) await query(DELETE_EVENTS, [found.map(({ id }) => id)]);
  return found.length < BATCH_SIZE ? undefined : found.at(-1)?.id;
}

export interface Retention {
  /** Of events, their deliveries, and notifications. */
  retentionMs: number;
  /** After their end; undefined: they are kept. */
  executionRetentionMs?: number | undefined;
  evaluationRetentionMs?: number | undefined;
}

/**
 * Deletes what has expired: idempotency keys, occurrences of schedules, counters of the rate limiter, notifications, events with their deliveries,
 * executions and evaluations; then what was deleted by callers and is only out of sight. An event stays that has yet to be
 * dispatched or delivered. All in small steps. Safe to run in several processes at once.
 * @param signal ends it after the current step
 */
export async function cleanUp(
  db: SystemDatabase,
  { retentionMs, executionRetentionMs, evaluationRetentionMs }: Retention,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  await deleteInBatches(
    db.query,
    {
      table: 'idempotency_keys',
      where: `created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`,
      values: [],
      bytes: 'coalesce(octet_length(answer), 0)',
    },
    signal,
  );
  await deleteInBatches(
    db.query,
    {
      table: 'schedule_occurrences',
      where: `created_at < now() - interval '${OCCURRENCE_DAYS} days'`,
      values: [],
    },
    signal,
  );
  await db.query({ text: 'delete from rate_limits where expire < $1' }, [Date.now()]);
  await deleteOldEvents(db, retentionMs, signal);
  if (executionRetentionMs !== undefined) await expireExecutions(db, executionRetentionMs, signal);
  if (evaluationRetentionMs !== undefined) await expireEvaluations(db, evaluationRetentionMs, signal);
  await sweep(db, signal);
}

async function deleteOldEvents(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const { from, to: before } = idsOfSpan(undefined, new Date(Date.now() - retentionMs));
  const ageSeconds = retentionMs / 1_000;
  let after: string | undefined = from;
  while (after !== undefined && !signal.aborted) {
    const from: string = after;
    after = await db.transaction((query) => deleteSomeEvents(query, from, before, ageSeconds));
    await pause(signal);
  }
  const where = 'id < $1 and created_at < now() - make_interval(secs => $2)';
  await deleteInBatches(db.query, { table: 'notifications', where, values: [before, ageSeconds], byId: true }, signal);
}
