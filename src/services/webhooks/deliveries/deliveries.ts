import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { CHANNELS } from '../../../db/listener.ts';
import { type Page, selectPage } from '../../../db/read-page.ts';
import { given, notify, now } from '../../../db/sql.ts';
import { type Builder, prepared, type RowOf } from '../../../db/statement.ts';
import { ApiError, notFound } from '../../../domain/errors.ts';
import { idsOfSpan, newId, publicId } from '../../../domain/ids.ts';
import { type DeliveryStatus, deliveryStates, UNFINISHED_DELIVERY } from '../../../domain/webhooks/delivery-states.ts';
import { type EventType, eventBody } from '../../../domain/webhooks/events.ts';
import { recordChange } from '../../audit/record-change.ts';
import { lockWebhook, requireEnabled } from '../webhooks.ts';

/** Deliveries `d` with their events `e`. */
export const selectDeliveries = (db: Builder) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.webhook_id', 'd.event_id', 'e.type as event', 'd.trigger', 'd.status', 'd.status_reason'])
    .select(['d.attempts_made', 'd.next_attempt_at', 'd.started_at', 'd.created_at', 'd.finished_at']);

const FIND = prepared<{ id: string }>()((db, { id }) => selectDeliveries(db).where('d.id', '=', id));

/** A delivery with the type of its event. */
export type DeliveryRow = RowOf<typeof FIND>;

/** Whether nothing more will be sent for it. */
export function hasEnded({ status }: DeliveryRow): boolean {
  return !UNFINISHED_DELIVERY.some((unfinished) => unfinished === status);
}

/** @throws ApiError `not_found` */
export async function getDelivery({ query }: { query: Query }, id: string): Promise<DeliveryRow> {
  const [row] = await query(FIND, { id });
  if (row === undefined) throw notFound('This delivery');
  return row;
}

/** The body of every attempt of a delivery. Undefined if its event is gone. */
export async function bodyOfDelivery({ query }: { query: Query }, { event_id: id }: DeliveryRow) {
  const [event] = await query((db) =>
    db.selectFrom('events').select(['type', 'data', 'created_at']).where('id', '=', id),
  );
  return event && eventBody({ ...event, createdAt: event.created_at }).toString();
}

/** The attempts of a delivery, in order. */
export const listAttempts = ({ query }: { query: Query }, id: string) =>
  query((db) =>
    db
      .selectFrom('delivery_attempts as a')
      .innerJoin('deliveries as d', 'd.id', 'a.delivery_id')
      .select(['a.attempt', 'a.started_at', 'a.request', 'a.duration_ms', 'a.status', 'a.response_body', 'a.error'])
      .where('d.id', '=', id)
      .orderBy('a.attempt'),
  );

export type AttemptRecord = Awaited<ReturnType<typeof listAttempts>>[number];

export interface DeliveryFilter {
  status?: DeliveryStatus | undefined;
  event?: EventType | undefined;
  /** Created at or after this time. */
  since?: Date | undefined;
  /** Created before this time. */
  until?: Date | undefined;
}

/** Deliveries to a webhook, newest first: a page of at most `limit` before the id `before`. */
export function listDeliveries(
  { query }: { query: Query },
  webhookId: string,
  { status, event, since, until }: DeliveryFilter,
  limit: number,
  before: string | undefined,
): Promise<Page<DeliveryRow>> {
  const { from, to } = idsOfSpan(since, until);
  const select = (db: Builder) =>
    selectDeliveries(db).where((eb) =>
      eb.and([
        eb('d.webhook_id', '=', webhookId),
        eb('d.id', '>=', from),
        eb('d.id', '<', to),
        ...given(status, (value) => eb('d.status', '=', value)),
        ...given(event, (value) => eb('e.type', '=', value)),
        ...given(since, (value) => eb('d.created_at', '>=', value)),
        ...given(until, (value) => eb('d.created_at', '<', value)),
        ...given(before, (value) => eb('d.id', '<', value)),
      ]),
    );
  const bytes = () => sql<number>`coalesce(octet_length(status_reason), 0)`;
  return selectPage(query, { select, orderBy: [['id', 'desc']], bytes }, limit);
}

/**
 * Sends the event of a delivery again, in a new delivery, in the caller's transaction.
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function redeliver(query: Query, id: string): Promise<DeliveryRow> {
  const old = await getDelivery({ query }, id);
  if (old.trigger === 'test')
    throw new ApiError('invalid_state', 'This was a test event: test the webhook again instead of redelivering it.');
  if (!hasEnded(old))
    throw new ApiError(
      'invalid_state',
      `This delivery is ${old.status}: it is still in progress and will be sent automatically.`,
    );
  const webhook = await lockWebhook(query, old.webhook_id);
  if (webhook === undefined)
    throw new ApiError('invalid_state', 'The webhook of this delivery was deleted: there is nowhere to send it.');
  requireEnabled(webhook);
  const newest = newId();
  await query((db) =>
    db
      // Locked, so that it is not cleaned up in the meantime.
      .with('event', (cte) => cte.selectFrom('events').select('id').where('id', '=', old.event_id).forKeyShare())
      .with('made', (cte) =>
        cte
          .insertInto('deliveries')
          .columns(['id', 'event_id', 'webhook_id', 'trigger', 'status', 'created_at'])
          .expression((eb) =>
            eb
              .selectFrom('event')
              .select([sql<string>`${newest}::uuid`.as('id'), 'event.id as event_id'])
              .select([sql<string>`${webhook.id}::uuid`.as('webhook_id'), sql.lit('redelivery').as('trigger')])
              .select([sql.lit(deliveryStates.initial).as('status'), now.as('created_at')]),
          ),
      )
      .selectNoFrom(notify(CHANNELS.deliveryChanged, '').as('notified')),
  );
  await recordChange(query, 'webhook.redelivered', publicId('webhook', webhook.id), {
    delivery_id: publicId('delivery', newest),
    event_id: publicId('event', old.event_id),
  });
  return getDelivery({ query }, newest);
}
