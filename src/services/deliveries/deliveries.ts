import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { DeliveryTrigger } from '../../db/entities/webhook.ts';
import { CHANNELS } from '../../db/listener.ts';
import { type Page, readPage } from '../../db/read-page.ts';
import { type DeliveryStatus, deliveryStates, UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import type { EventType } from '../../domain/events.ts';
import { idsOfSpan, newId } from '../../domain/ids.ts';
import { lockWebhook, requireEnabled } from '../webhooks/webhooks.ts';

/** A row of `deliveries` with the type of its event. */
export interface DeliveryRow {
  id: string;
  webhook_id: string;
  event_id: string;
  event: EventType;
  trigger: DeliveryTrigger;
  status: DeliveryStatus;
  status_reason: string | null;
  attempts_made: number;
  next_attempt_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
}

/** A row of `delivery_attempts`. */
export interface AttemptRecord {
  attempt: number;
  started_at: Date;
  duration_ms: number;
  status: number | null;
  response_body: string | null;
  error: string | null;
}

const SELECT = `select d.id, d.webhook_id, d.event_id, e.type as event, d.trigger, d.status, d.status_reason, d.attempts_made,
                  d.next_attempt_at, d.created_at, d.finished_at
                from deliveries d join events e on e.id = d.event_id`;

/** Whether nothing more is sent for it. */
export function hasEnded({ status }: DeliveryRow): boolean {
  return !UNFINISHED_DELIVERY.some((unfinished) => unfinished === status);
}

const FIND = { text: `${SELECT} where d.workspace_id = $1 and d.id = $2` };

/** @throws ApiError `not_found` */
export async function getDelivery({ query }: { query: Query }, id: string): Promise<DeliveryRow> {
  const [row] = await query<DeliveryRow>(FIND, [id]);
  if (row === undefined) throw notFound('This delivery');
  return row;
}

/** What was sent for a delivery so far, the first attempt first. */
export function listAttempts(db: WorkspaceDatabase, id: string): Promise<AttemptRecord[]> {
  return db.query<AttemptRecord>(
    {
      text: `select a.attempt, a.started_at, a.duration_ms, a.status, a.response_body, a.error
             from delivery_attempts a join deliveries d on d.id = a.delivery_id
             where d.workspace_id = $1 and d.id = $2 order by a.attempt`,
    },
    [id],
  );
}

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  event?: EventType | undefined;
  /** Created at or after this. */
  since?: Date | undefined;
  /** Created before this. */
  until?: Date | undefined;
}

/** Deliveries to a webhook, newest first, a page of at most `limit` before the id `before`. */
export function listDeliveries(
  db: WorkspaceDatabase,
  webhookId: string,
  { status, event, since, until }: DeliveryFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<DeliveryRow>> {
  const list = {
    select: `${SELECT} where d.workspace_id = $1 and d.webhook_id = $2 and ($3::text is null or d.status = $3)
               and ($4::text is null or e.type = $4) and ($5::timestamptz is null or d.created_at >= $5)
               and ($6::timestamptz is null or d.created_at < $6) and ($7::uuid is null or d.id < $7)
               and d.id >= $8 and d.id < $9`,
    orderBy: 'id desc',
    bytes: 'coalesce(octet_length(status_reason), 0)',
  };
  const { from, to } = idsOfSpan(since, until);
  const values = [webhookId, status ?? null, event ?? null, since ?? null, until ?? null, before ?? null, from, to];
  return readPage<DeliveryRow>(db.query, list, values, limit);
}

/** The event is held, so that it is not cleaned up meanwhile. */
const QUEUE = {
  text: `with event as (
           select id from events where workspace_id = $1 and id = $3 for key share
         ), made as (
           insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
           select $1, $2, id, $4, 'redelivery', '${deliveryStates.initial}', now() from event returning 1
         ) select pg_notify('${CHANNELS.deliveryChanged}', '') from made`,
};

/**
 * Sends the event of a delivery again, by a new delivery, in the caller's transaction.
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function redeliver(query: Query, id: string): Promise<DeliveryRow> {
  const old = await getDelivery({ query }, id);
  if (old.trigger === 'test')
    throw new ApiError('invalid_state', 'This was a test: instead of delivering it again, test the webhook again.');
  if (!hasEnded(old))
    throw new ApiError('invalid_state', `This delivery is ${old.status}: it has not ended, and is sent by itself.`);
  const webhook = await lockWebhook(query, old.webhook_id);
  if (webhook === undefined)
    throw new ApiError('invalid_state', 'The webhook of this delivery was deleted: there is nowhere to send it.');
  requireEnabled(webhook);
  const newest = newId();
  await query(QUEUE, [newest, old.event_id, webhook.id]);
  return getDelivery({ query }, newest);
}
