import { type Expression, sql } from 'kysely';
import type { Query, SystemDatabase } from '../../../db/database.ts';
import { milliseconds, now } from '../../../db/sql.ts';
import { changeState } from '../../../db/state-change.ts';
import { asJson, type Parameters, prepared } from '../../../db/statement.ts';
import { type DeliveryStatus, deliveryStates, UNFINISHED_DELIVERY } from '../../../domain/webhooks/delivery-states.ts';
import type { SentRequest } from '../../../domain/webhooks/sent-request.ts';
import type { OutboundResult } from '../../../outbound/outbound.ts';
import { disableForFailure } from '../disable-webhook.ts';
import { notifyTester } from './delivery-waiter.ts';

interface Attempt extends OutboundResult {
  /** The id of the delivery. */
  id: string;
  attempt: number;
  startedAt: Date;
  request: SentRequest;
  retryInMs: number;
}

interface AfterAttempt {
  status_reason: Expression<string | null> | null;
  next_attempt_at: Expression<Date> | null;
  finished_at?: Expression<Date>;
  check_at?: Expression<Date>;
}

const attemptsMade = (attempt: number | Expression<number>) => sql<number>`greatest(attempts_made, ${attempt})`;

/**
 * Stores an attempt and the new state of its delivery, in one statement. Success, and failure of the last retry, also replace the
 * state of a delivery that was abandoned while the attempt was in flight.
 */
const recording = (to: 'delivered' | 'failed' | 'waiting', after: (values: Parameters<Attempt>) => AfterAttempt) => {
  const change = changeState(deliveryStates, { to });
  return prepared<Attempt>()((db, values) =>
    db
      .with('tried', (cte) =>
        cte
          .insertInto('delivery_attempts')
          .values({
            delivery_id: values.id,
            attempt: values.attempt,
            started_at: values.startedAt,
            request: asJson(values.request),
            duration_ms: values.durationMs,
            status: values.status,
            response_body: values.body,
            error: values.error,
          })
          .onConflict((conflict) => conflict.doNothing()),
      )
      .with('after', (cte) =>
        cte
          .updateTable('deliveries as d')
          .set({ ...change.set, attempts_made: attemptsMade(values.attempt), slot_at: null, ...after(values) })
          .where('id', '=', values.id)
          .where(change.where)
          .returning((eb) => ['status', ...(to === 'waiting' ? [] : [notifyTester(eb)])]),
      )
      .selectFrom('after')
      .select('status'),
  );
};

const RECORD = {
  delivered: recording('delivered', () => ({ status_reason: null, next_attempt_at: null, finished_at: now })),
  failed: recording('failed', ({ error }) => ({ status_reason: error, next_attempt_at: null, finished_at: now })),
  waiting: recording('waiting', ({ error, retryInMs }) => ({
    status_reason: error,
    next_attempt_at: sql<Date>`now() + ${milliseconds(retryInMs)}`,
    // A delivery without a workflow should get one soon; the reconciliation starts those that the relay could not.
    check_at: sql<Date>`now() + case when started_at is null then interval '15 seconds'
      else interval '1 minute' + ${milliseconds(retryInMs)} end`,
  })),
};

/** An attempt that was sent. */
export interface SentAttempt {
  /** The id of the delivery. */
  id: string;
  /** From 1. */
  attempt: number;
  startedAt: Date;
  request: SentRequest;
  /** Null after the last attempt. */
  retryInMs: number | null;
}

/**
 * Stores the result of an attempt. The first record of an attempt is kept.
 * @returns the status of the delivery; undefined if there is no such delivery, or no longer
 */
export async function recordAttempt(
  query: Query,
  { id, attempt, startedAt, request, retryInMs }: SentAttempt,
  result: OutboundResult,
): Promise<DeliveryStatus | undefined> {
  const next = result.error === null ? 'delivered' : retryInMs === null ? 'failed' : 'waiting';
  const durationMs = Math.round(result.durationMs);
  const [row] = await query(RECORD[next], {
    ...result,
    id,
    attempt,
    startedAt,
    request,
    durationMs,
    retryInMs: retryInMs ?? 0,
  });
  if (row !== undefined) return row.status;
  // A delivery that has ended is left unchanged, but the attempt was made.
  const [ended] = await query((db) =>
    db
      .updateTable('deliveries')
      .set({ attempts_made: attemptsMade(attempt), slot_at: null })
      .where('id', '=', id)
      .returning('status'),
  );
  return ended?.status;
}

/**
 * Stores the failure of the last retry of a delivery, which disables the webhook, abandons its other deliveries and notifies its
 * owner, all in one transaction. If several deliveries fail at the same time, the first does it.
 */
export async function recordLastFailure(
  db: SystemDatabase,
  sent: SentAttempt,
  result: OutboundResult,
): Promise<{ status: DeliveryStatus | undefined; disabled: boolean }> {
  return db.transaction(async (query) => {
    // The webhook is locked before any of its deliveries, as when it is disabled or deleted by request.
    const [before] = await query((own) =>
      own
        .selectFrom('deliveries as d')
        .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
        .select('d.status')
        .where('d.id', '=', sent.id)
        .forNoKeyUpdate('w'),
    );
    const status = await recordAttempt(query, sent, result);
    // A delivery that ended while in flight says nothing about a webhook that was enabled again since.
    const wasUnfinished = UNFINISHED_DELIVERY.some((unfinished) => unfinished === before?.status);
    return { status, disabled: wasUnfinished && (await disableForFailure(query, sent.id)) };
  });
}

const COUNT_FAILURE = prepared<{ webhookId: string }>()((db, { webhookId }) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({ consecutive_failures: eb('consecutive_failures', '+', 1), last_delivery_at: now }))
    .where('id', '=', webhookId),
);

/** At most once a second while all attempts succeed, so that a busy webhook's row is not written with every delivery. */
const COUNT_SUCCESS = prepared<{ webhookId: string }>()((db, { webhookId }) =>
  db
    .updateTable('webhooks')
    .set({ consecutive_failures: 0, last_delivery_at: now })
    .where('id', '=', webhookId)
    .where((eb) =>
      eb.or([
        eb('consecutive_failures', '>', 0),
        eb('last_delivery_at', 'is', null),
        eb('last_delivery_at', '<', sql<Date>`now() - interval '1 second'`),
      ]),
    ),
);

/** Counts an attempt for its webhook. */
export async function countAttempt(query: Query, webhookId: string, succeeded: boolean): Promise<void> {
  await query(succeeded ? COUNT_SUCCESS : COUNT_FAILURE, { webhookId });
}
