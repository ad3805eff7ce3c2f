import type { Query, Statement } from '../../db/database.ts';
import type { DeliveryTrigger } from '../../db/entities/webhook.ts';
import { CHANNELS } from '../../db/listener.ts';
import { type DeliveryStatus, deliveryStates } from '../../domain/delivery-states.ts';
import type { EventData, EventType } from '../../domain/events.ts';
import type { WebhookStatus } from '../../domain/webhook-states.ts';
import type { OutboundResult } from '../../outbound/outbound.ts';
import type { SealedColumns } from '../webhooks/encrypted-columns.ts';

/** What an attempt needs to know. */
export type AttemptRow = {
  status: DeliveryStatus;
  trigger: DeliveryTrigger;
  /** When its slot is, in milliseconds from now; null where it has none. */
  slot_in_ms: number | null;
  workspace_id: string;
  event_id: string;
  type: EventType;
  data: EventData;
  created_at: Date;
  /** Why this attempt failed when it was made before, by a worker that could not say so. */
  recorded_error: string | null;
  /** What is left of the wait for the next attempt, in milliseconds; null where there is none. */
  next_in_ms: number | null;
  webhook_id: string;
} & (Endpoint | { [Column in keyof Endpoint]: null });

/** One whose webhook is there. */
export type SendableRow = Extract<AttemptRow, Endpoint>;

/** Of the webhook; all null where it was deleted. */
type Endpoint = SealedColumns & {
  webhook_status: WebhookStatus;
  url: string;
  rate_limit_per_minute: number | null;
};

const READ = {
  name: 'read-delivery',
  text: `select d.status, d.trigger, extract(epoch from d.slot_at - now())::float8 * 1000 as slot_in_ms, d.workspace_id,
           d.event_id, d.webhook_id,
           e.type, e.data, e.created_at, a.error as recorded_error,
           extract(epoch from d.next_attempt_at - now())::float8 * 1000 as next_in_ms,
           w.status as webhook_status, w.url, w.secret, w.previous_secret, w.previous_secret_expires_at, w.headers,
           w.rate_limit_per_minute
         from deliveries d
         join events e on e.id = d.event_id
         left join webhooks w on w.id = d.webhook_id
         left join delivery_attempts a on a.delivery_id = d.id and a.attempt = $2
         where d.id = $1`,
};

/** The slots of a webhook with a rate limit follow each other at its pace. */
const TAKE_SLOT = {
  name: 'take-delivery-slot',
  text: `with slot as (
           update webhooks set next_slot_at = greatest(next_slot_at, now()) + interval '1 minute' / rate_limit_per_minute
           where id = $2 returning next_slot_at - interval '1 minute' / rate_limit_per_minute as at
         ), given as (
           update deliveries set slot_at = slot.at, next_attempt_at = greatest(slot.at, next_attempt_at),
             check_at = greatest(slot.at, next_attempt_at) + interval '1 minute' from slot where id = $1
         ) select extract(epoch from at - now())::float8 * 1000 as in_ms from slot`,
};

/**
 * Stores an attempt and where the delivery stands after it, in one statement. That it was sent is true even where the delivery
 * was abandoned meanwhile, so success and the failure of the last retry go before that.
 */
function storing(to: 'delivered' | 'failed' | 'waiting', columns: string): Statement {
  const change = deliveryStates.change({ to });
  return {
    name: `record-attempt-${to}`,
    text: `with tried as (
             insert into delivery_attempts (delivery_id, attempt, started_at, duration_ms, status, response_body, error)
             values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing
           ), after as (
             update deliveries set ${change.set}, attempts_made = greatest(attempts_made, $2), slot_at = null, ${columns}
             where id = $1 and ${change.where} returning id, status, trigger
           ) select status, case when trigger = 'test' and status <> 'waiting'
               then pg_notify('${CHANNELS.deliveryFinished}', id::text) end from after`,
  };
}

const RECORD = {
  delivered: storing('delivered', 'status_reason = null, next_attempt_at = null, finished_at = now()'),
  failed: storing('failed', 'status_reason = $7, next_attempt_at = null, finished_at = now()'),
  waiting: storing(
    'waiting',
    'status_reason = $7, next_attempt_at = now() + make_interval(secs => $8::float8 / 1000), check_at = now() + make_interval(secs => 60 + $8::float8 / 1000)',
  ),
};

/** A delivery that had ended stays as it is; the attempt was made all the same. */
const COUNT_LATE = {
  text: `update deliveries set attempts_made = greatest(attempts_made, $2), slot_at = null where id = $1 returning status`,
};

/** Seldom where all goes well, so that a busy webhook's row is not written with every delivery. */
const COUNT = {
  name: 'count-attempt',
  text: `update webhooks set consecutive_failures = case when $2 then 0 else consecutive_failures + 1 end, last_delivery_at = now()
         where id = $1 and (not $2 or consecutive_failures > 0 or last_delivery_at is null
           or last_delivery_at < now() - interval '1 second')`,
};

/** @returns undefined where there is no such delivery (any more) */
export async function readAttempt(query: Query, id: string, attempt: number): Promise<AttemptRow | undefined> {
  const [row] = await query<AttemptRow>(READ, [id, attempt]);
  return row;
}

/**
 * Gives a delivery the next slot of its webhook.
 * @returns milliseconds until then
 */
export async function takeSlot(query: Query, id: string, webhookId: string): Promise<number> {
  const [row] = await query<{ in_ms: number }>(TAKE_SLOT, [id, webhookId]);
  return row?.in_ms ?? 0;
}

/**
 * Stores what came of an attempt. The first record of an attempt stays.
 * @param retryInMs null after the last one
 * @returns where the delivery stands now; undefined where there is no such delivery (any more)
 */
export async function recordAttempt(
  query: Query,
  { id, attempt, startedAt, retryInMs }: { id: string; attempt: number; startedAt: Date; retryInMs: number | null },
  { durationMs, status, body, error }: OutboundResult,
): Promise<DeliveryStatus | undefined> {
  const tried = [id, attempt, startedAt, Math.round(durationMs), status, body, error];
  const [row] =
    error !== null && retryInMs !== null
      ? await query<{ status: DeliveryStatus }>(RECORD.waiting, [...tried, retryInMs])
      : await query<{ status: DeliveryStatus }>(error === null ? RECORD.delivered : RECORD.failed, tried);
  if (row !== undefined) return row.status;
  const [ended] = await query<{ status: DeliveryStatus }>(COUNT_LATE, [id, attempt]);
  return ended?.status;
}

/** Counts an attempt for its webhook. */
export async function countAttempt(query: Query, webhookId: string, succeeded: boolean): Promise<void> {
  await query(COUNT, [webhookId, succeeded]);
}
