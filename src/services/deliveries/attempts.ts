import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { milliseconds, now } from '../../db/sql.ts';
import { changeState } from '../../db/state-change.ts';
import { type Parameters, prepared, type RowOf } from '../../db/statement.ts';
import { type DeliveryStatus, deliveryStates } from '../../domain/delivery-states.ts';
import type { OutboundResult } from '../../outbound/outbound.ts';
import { notifyTester } from './delivery-waiter.ts';

const msUntil = (time: Expression<Date | null>) =>
  sql<number | null>`extract(epoch from ${time} - now())::float8 * 1000`;

const READ = prepared<{ id: string; attempt: number }>()((db, { id, attempt }) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .leftJoin('delivery_attempts as a', (join) =>
      join.onRef('a.delivery_id', '=', 'd.id').on('a.attempt', '=', attempt),
    )
    .select(['d.status', 'd.trigger', 'd.workspace_id', 'd.event_id', 'd.webhook_id'])
    .select(['e.type', 'e.data', 'e.created_at'])
    .select(['w.status as webhook_status', 'w.url', 'w.secret', 'w.previous_secret', 'w.previous_secret_expires_at'])
    .select(['w.headers', 'w.rate_limit_per_minute'])
    // Why this attempt failed when it was made before, by a worker that could not report it.
    .select('a.error as recorded_error')
    .select((eb) => [
      msUntil(eb.ref('d.slot_at')).as('slot_in_ms'),
      msUntil(eb.ref('d.next_attempt_at')).as('next_in_ms'),
    ])
    .where('d.id', '=', id),
);

/** What an attempt needs to know. The columns of the webhook are null where it was deleted. */
export type AttemptRow = RowOf<typeof READ>;

/** One whose webhook is enabled. */
export type SendableRow = AttemptRow & {
  [Column in 'webhook_status' | 'url' | 'secret']: NonNullable<AttemptRow[Column]>;
};

export const isSendable = (row: AttemptRow): row is SendableRow => row.webhook_status === 'enabled';

/** The time between two slots of the webhook. */
const interval = sql<Date>`interval '1 minute' / rate_limit_per_minute`;

/** The slots of a webhook with a rate limit follow each other at its pace. */
const TAKE_SLOT = prepared<{ id: string; webhookId: string }>()((db, { id, webhookId }) =>
  db
    .with('slot', (cte) =>
      cte
        .updateTable('webhooks')
        .set({ next_slot_at: sql<Date>`greatest(next_slot_at, now()) + ${interval}` })
        .where('id', '=', webhookId)
        .returning(sql<Date>`next_slot_at - ${interval}`.as('at')),
    )
    .with('given', (cte) =>
      cte
        .updateTable('deliveries')
        .from('slot')
        .set((eb) => ({
          slot_at: eb.ref('slot.at'),
          next_attempt_at: sql<Date>`greatest(slot.at, next_attempt_at)`,
          check_at: sql<Date>`greatest(slot.at, next_attempt_at) + interval '1 minute'`,
        }))
        .where('id', '=', id),
    )
    .selectFrom('slot')
    .select((eb) => msUntil(eb.ref('slot.at')).as('in_ms')),
);

interface Attempt extends OutboundResult {
  /** Of the delivery. */
  id: string;
  attempt: number;
  startedAt: Date;
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
 * Stores an attempt and where the delivery stands after it, in one statement. That it was sent is true even where the delivery
 * was abandoned meanwhile, so success and the failure of the last retry replace that.
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
    check_at: sql<Date>`now() + interval '1 minute' + ${milliseconds(retryInMs)}`,
  })),
};

/** @returns undefined where there is no such delivery (any more) */
export async function readAttempt(query: Query, id: string, attempt: number): Promise<AttemptRow | undefined> {
  const [row] = await query(READ, { id, attempt });
  return row;
}

/**
 * Gives a delivery the next slot of its webhook.
 * @returns milliseconds until then
 */
export async function takeSlot(query: Query, id: string, webhookId: string): Promise<number> {
  const [row] = await query(TAKE_SLOT, { id, webhookId });
  return row?.in_ms ?? 0;
}

/**
 * Stores the result of an attempt. The first record of an attempt stays.
 * @param retryInMs null after the last attempt
 * @returns where the delivery stands now; undefined where there is no such delivery (any more)
 */
export async function recordAttempt(
  query: Query,
  { id, attempt, startedAt, retryInMs }: { id: string; attempt: number; startedAt: Date; retryInMs: number | null },
  result: OutboundResult,
): Promise<DeliveryStatus | undefined> {
  const next = result.error === null ? 'delivered' : retryInMs === null ? 'failed' : 'waiting';
  const durationMs = Math.round(result.durationMs);
  const [row] = await query(RECORD[next], { ...result, id, attempt, startedAt, durationMs, retryInMs: retryInMs ?? 0 });
  if (row !== undefined) return row.status;
  // A delivery that had ended stays as it is; the attempt was made all the same.
  const [ended] = await query((db) =>
    db
      .updateTable('deliveries')
      .set({ attempts_made: attemptsMade(attempt), slot_at: null })
      .where('id', '=', id)
      .returning('status'),
  );
  return ended?.status;
}

const COUNT_FAILURE = prepared<{ webhookId: string }>()((db, { webhookId }) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({ consecutive_failures: eb('consecutive_failures', '+', 1), last_delivery_at: now }))
    .where('id', '=', webhookId),
);

/** At most once a second where all goes well, so that a busy webhook's row is not written with every delivery. */
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
