import { type ExpressionBuilder, sql } from 'kysely';
import type { Query, SystemDatabase } from '../db/database.ts';
import { deleteInBatches, doomed, pause } from '../db/delete-in-batches.ts';
import { ago, now } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import type { Tables } from '../db/tables.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';
import { MAX_WINDOW_MS } from '../domain/monitors/monitor.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';
import { WHOLE_STAGE } from '../services/releases/sum-up-releases.ts';
import { expireAuditLog, expireEvaluations, expireExecutions } from './retention.ts';
import { sweep } from './sweep.ts';

const HOUR_MS = 60 * 60_000;
/** For how long the numbers of releases are kept by minute. Those of a whole release stay. */
const RELEASE_MINUTES_RETENTION_MS = 90 * 24 * HOUR_MS;
/** For how long the step that starts the evaluation of a schedule may be retried. */
const OCCURRENCE_RETENTION_MS = 7 * 24 * HOUR_MS;
/** Events a transaction. */
const BATCH_SIZE = 2_000;

/** The event has a delivery that has not ended, or whose workflow has not been told that it has. */
const isInDelivery = (eb: ExpressionBuilder<Tables, 'events'>) =>
  eb.exists(
    eb
      .selectFrom('deliveries as d')
      .select('d.id')
      .whereRef('d.event_id', '=', 'events.id')
      .where((delivery) =>
        delivery.or([inStates(deliveryStates, UNFINISHED_DELIVERY, 'd'), delivery('d.to_end', '=', true)]),
      ),
  );

/** @returns the last one looked at; undefined where there are no more */
async function deleteSomeEvents(query: Query, after: string, before: string, ageMs: number) {
  const found = await query((db) =>
    db
      .selectFrom('events')
      .select('id')
      .where('id', '>', after)
      .where('id', '<', before)
      .where('created_at', '<', ago(ageMs))
      .where('dispatched_at', 'is not', null)
      .where((eb) => eb.not(isInDelivery(eb)))
      .orderBy('id')
      .limit(BATCH_SIZE)
      .forUpdate()
      .skipLocked(),
  );
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return undefined;
  // Checked again, now that no one can ask for another delivery of a locked event.
  await query((db) =>
    db
      .with('gone', (cte) =>
        cte
          .deleteFrom('events')
          .where(sql<boolean>`id = any(${ids}::uuid[])`)
          .where((eb) => eb.not(isInDelivery(eb)))
          .returning('id'),
      )
      .deleteFrom('deliveries')
      .where('event_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
  );
  return found.length < BATCH_SIZE ? undefined : ids.at(-1);
}

export interface Retention {
  /** Of events, their deliveries, notifications, and changes of monitors' states. */
  retentionMs: number;
  /** After their end; undefined: they are kept. */
  executionRetentionMs?: number | undefined;
  evaluationRetentionMs?: number | undefined;
  /** Of entries of the audit log. */
  auditRetentionMs?: number | undefined;
}

/**
 * Deletes what has expired: idempotency keys, sessions, requests of programs for keys, occurrences of schedules, counters of the rate limiter, old minutes of releases, notifications, events with their deliveries,
 * executions, evaluations and entries of the audit log; then what was deleted by callers and is only out of sight. An event stays that has yet to be
 * dispatched or delivered. All in small steps. Safe to run in several processes at once.
 * @param signal ends it after the current step
 * @throws AggregateError of the steps that failed, once all others are done
 */
export async function cleanUp(
  db: SystemDatabase,
  { retentionMs, executionRetentionMs, evaluationRetentionMs, auditRetentionMs }: Retention,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const keys = doomed('idempotency_keys', (eb) => ({
    where: eb('created_at', '<', ago(IDEMPOTENCY_HOURS * HOUR_MS)),
    bytes: sql<number>`coalesce(octet_length(answer), 0)`,
  }));
  const occurrences = doomed('schedule_occurrences', (eb) => ({
    where: eb('created_at', '<', ago(OCCURRENCE_RETENTION_MS)),
  }));
  const sessions = doomed('sessions', (eb) => ({ where: eb('expires_at', '<', now) }));
  const devices = doomed('device_authorizations', (eb) => ({ where: eb('expires_at', '<', now) }));
  const releaseMinutes = doomed('release_sums', (eb) => ({
    where: eb.and([eb('starts_at', '>', WHOLE_STAGE), eb('starts_at', '<', ago(RELEASE_MINUTES_RETENTION_MS))]),
  }));
  const runMinutes = doomed('run_minutes', (eb) => ({
    where: eb('starts_at', '<', ago(MAX_WINDOW_MS + HOUR_MS)),
  }));
  const steps: (() => Promise<unknown>)[] = [
    ...[keys, occurrences, sessions, devices, releaseMinutes, runMinutes].map(
      (rows) => () => deleteInBatches(db.query, rows, signal),
    ),
    () => db.query((all) => all.deleteFrom('rate_limits').where('expire', '<', Date.now())),
    () => deleteOldEvents(db, retentionMs, signal),
  ];
  if (executionRetentionMs !== undefined) steps.push(() => expireExecutions(db, executionRetentionMs, signal));
  if (evaluationRetentionMs !== undefined) steps.push(() => expireEvaluations(db, evaluationRetentionMs, signal));
  if (auditRetentionMs !== undefined) steps.push(() => expireAuditLog(db, auditRetentionMs, signal));
  steps.push(() => sweep(db, signal));

  const failures: unknown[] = [];
  for (const step of steps) {
    if (signal.aborted) break;
    await step().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} steps of cleaning up failed.`);
}

async function deleteOldEvents(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const { from, to: before } = idsOfSpan(undefined, new Date(Date.now() - retentionMs));
  let after: string | undefined = from;
  while (after !== undefined && !signal.aborted) {
    const from: string = after;
    after = await db.transaction((query) => deleteSomeEvents(query, from, before, retentionMs));
    await pause(signal);
  }
  for (const table of ['notifications', 'monitor_changes'] as const) {
    const old = doomed(table, (eb) => ({
      where: eb.and([eb('id', '<', before), eb('created_at', '<', ago(retentionMs))]),
      byId: true,
    }));
    await deleteInBatches(db.query, old, signal);
  }
}
