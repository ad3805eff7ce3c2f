import type { Query, SystemDatabase } from '../db/database.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';

/** Events, or notifications, a transaction. */
const BATCH_SIZE = 2_000;
/** What a turn leaves is for the next one: a process that stops waits for the turn to end. */
const MAX_TURN_MS = 10_000;

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
const DELETE_NOTIFICATIONS = {
  text: `delete from notifications where id in (
           select id from notifications where id < $1 and created_at < now() - make_interval(secs => $2)
           order by id limit ${BATCH_SIZE} for update skip locked)
         returning 1`,
};

/** @returns the last one looked at; undefined where there are no more */
async function deleteSomeEvents(query: Query, after: string, before: string, ageSeconds: number) {
  const found = await query<{ id: string }>(OLD_EVENTS, [after, before, ageSeconds]);
  if (found.length > 0) await query(DELETE_EVENTS, [found.map(({ id }) => id)]);
  return found.length < BATCH_SIZE ? undefined : found.at(-1)?.id;
}

/**
 * Deletes what has expired: idempotency keys, counters of the rate limiter, and, after `retentionMs`, notifications and events
 * with their deliveries. An event stays that has yet to be dispatched or delivered. Safe to run in several processes at once.
 */
export async function cleanUp(db: SystemDatabase, { retentionMs }: { retentionMs: number }): Promise<void> {
  await db.query({
    text: `delete from idempotency_keys where created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`,
  });
  await db.query({ text: 'delete from rate_limits where expire < $1' }, [Date.now()]);

  const deadline = Date.now() + MAX_TURN_MS;
  const { from, to: before } = idsOfSpan(undefined, new Date(Date.now() - retentionMs));
  const ageSeconds = retentionMs / 1_000;
  let after: string | undefined = from;
  while (after !== undefined && Date.now() < deadline) {
    const from: string = after;
    after = await db.transaction((query) => deleteSomeEvents(query, from, before, ageSeconds));
  }
  let deleted = BATCH_SIZE;
  while (deleted === BATCH_SIZE && Date.now() < deadline)
    deleted = (await db.query(DELETE_NOTIFICATIONS, [before, ageSeconds])).length;
}
