import { sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { CHANNELS } from '../../../db/listener.ts';
import { arrayOf, given, notify, now, unnestOf } from '../../../db/sql.ts';
import { inStates } from '../../../db/state-change.ts';
import type { Builder } from '../../../db/statement.ts';
import { UUID_V7 } from '../../../db/uuid-v7.ts';
import { invalidField } from '../../../domain/errors.ts';
import { idsOfSpan, publicId } from '../../../domain/ids.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../../domain/webhooks/delivery-states.ts';
import type { EventType } from '../../../domain/webhooks/events.ts';
import { recordChange } from '../../audit/record-change.ts';
import { foundWebhook, lockWebhook, requireEnabled, type WebhookRow } from '../webhooks.ts';

/** The maximum number of events that one request can replay. */
export const MAX_REPLAYED = 100_000;

export interface Replay {
  /** Events created at or after this time. */
  since: Date;
  /** Events created before this time. */
  until?: Date | undefined;
  /** Excludes events that were delivered to the webhook. */
  undeliveredOnly: boolean;
}

/**
 * An event that is not dispatched yet is about to get its delivery from the relay. The ids are generated first and sorted, because within
 * a millisecond they have no order, and deliveries are sent in the order of their ids. There are no joins: with so many rows and few
 * statistics, the planner could choose a plan that takes minutes. Events are locked, so that they are not cleaned up in the meantime.
 */
const replay = (db: Builder, { id: webhookId, events }: WebhookRow, { since, until, undeliveredOnly }: Replay) => {
  const { from, to } = idsOfSpan(since, until);
  const leftOut = inStates(
    deliveryStates,
    undeliveredOnly ? [...UNFINISHED_DELIVERY, 'delivered'] : UNFINISHED_DELIVERY,
  );
  return db
    .with(
      (cte) => cte('chosen').materialized(),
      (cte) =>
        cte
          .selectFrom('events')
          .select('id')
          .where((eb) =>
            eb.and([
              eb('id', '>=', from),
              eb('id', '<', to),
              eb.not(eb.ref('test')),
              eb('dispatched_at', 'is not', null),
              eb('type', '=', sql<EventType>`any(${events}::text[])`),
              eb('created_at', '>=', since),
              ...given(until, (value) => eb('created_at', '<', value)),
            ]),
          )
          .except((eb) =>
            eb.selectFrom('deliveries').select('event_id as id').where('webhook_id', '=', webhookId).where(leftOut),
          )
          .orderBy('id')
          .limit(MAX_REPLAYED + 1),
    )
    .with('counted', (cte) => cte.selectFrom('chosen').select((eb) => eb.fn.countAll<number>().as('count')))
    .with(
      (cte) => cte('held').materialized(),
      (cte) =>
        cte
          .selectFrom('events')
          .select('id')
          .where('id', '=', (eb) => sql<string>`any(${arrayOf(eb.selectFrom('chosen').select('chosen.id'))})`)
          .where((eb) => eb(eb.selectFrom('counted').select('counted.count'), '<=', MAX_REPLAYED))
          .orderBy('id')
          .forKeyShare(),
    )
    .with('queued', (cte) =>
      cte
        .insertInto('deliveries')
        .columns(['id', 'event_id', 'webhook_id', 'trigger', 'status', 'created_at'])
        .expression((eb) =>
          eb
            .selectFrom(
              unnestOf('pair', {
                event_id: ['uuid', arrayOf(eb.selectFrom('held').select('held.id').orderBy('held.id'))],
                id: [
                  'uuid',
                  arrayOf(
                    eb
                      .selectFrom((made) =>
                        made.selectFrom('held').select(sql.raw<string>(UUID_V7).as('id')).as('made'),
                      )
                      .select('made.id')
                      .orderBy('made.id'),
                  ),
                ],
              }),
            )
            .select(['pair.id', 'pair.event_id', sql<string>`${webhookId}::uuid`.as('webhook_id')])
            .select([sql.lit('replay').as('trigger'), sql.lit(deliveryStates.initial).as('status')])
            .select(now.as('created_at')),
        ),
    )
    .selectFrom('counted')
    .select((eb) => [
      eb
        .case()
        .when('counted.count', '>', MAX_REPLAYED)
        .then(eb.ref('counted.count'))
        .else(eb.selectFrom('held').select(eb.fn.countAll<number>().as('count')).$asScalar().$notNull())
        .end()
        .as('count'),
      notify(CHANNELS.deliveryChanged, '').as('notified'),
    ]);
};

/**
 * Delivers the events of a time range to a webhook again, in the caller's transaction: those that it subscribes to and that have
 * no unfinished delivery to it. Each gets a new delivery, oldest first.
 * @returns the number of deliveries
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request` if there are too many
 */
export async function replayEvents(query: Query, id: string, range: Replay): Promise<number> {
  const webhook = foundWebhook(await lockWebhook(query, id));
  requireEnabled(webhook);
  const [row] = await query((db) => replay(db, webhook, range));
  if (row === undefined) throw new Error('A count without a row.');
  if (row.count > MAX_REPLAYED)
    throw invalidField('since', `covers more than ${MAX_REPLAYED} events: use a shorter time range`);
  await recordChange(query, 'webhook.replayed', publicId('webhook', id), {
    since: range.since.toISOString(),
    until: range.until?.toISOString() ?? null,
    undelivered_only: range.undeliveredOnly,
    replayed: row.count,
  });
  return row.count;
}
