import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { UUID_V7 } from '../../db/uuid-v7.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';
import { invalidField } from '../../domain/errors.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { foundWebhook, lockWebhook, requireEnabled } from '../webhooks/webhooks.ts';

/** How many events one request can send again. */
export const MAX_REPLAYED = 100_000;

export interface Replay {
  /** Events of this time or later. */
  since: Date;
  /** Events before this time. */
  until?: Date | undefined;
  /** Leaves out what was delivered to the webhook. */
  undeliveredOnly: boolean;
}

/**
 * An event that was not dispatched yet is about to get its delivery from the relay. The ids are made first and sorted, since
 * within a millisecond they come in any order, and deliveries are sent in the order of their ids. There are no joins: of so
 * many rows, of which the planner may know little, one could take minutes. Events that are held are not cleaned up meanwhile.
 */
const REPLAY = {
  text: `with chosen as materialized (
           select id from events
           where workspace_id = $1 and id >= $7 and id < $8 and not test and dispatched_at is not null and type = any($3::text[])
             and created_at >= $4 and ($5::timestamptz is null or created_at < $5)
           except
           select event_id from deliveries
           where workspace_id = $1 and webhook_id = $2 and (${deliveryStates.in(UNFINISHED_DELIVERY)} or $6 and status = 'delivered')
           order by id limit ${MAX_REPLAYED + 1}
         ), counted as (
           select count(*)::int as count from chosen
         ), held as materialized (
           select id from events
           where workspace_id = $1 and id = any(array(select id from chosen)) and (select count from counted) <= ${MAX_REPLAYED}
           order by id for key share
         ), queued as (
           insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
           select $1, pair.id, pair.event_id, $2, 'replay', '${deliveryStates.initial}', now()
           from unnest(array(select id from held order by id),
             array(select made.id from (select ${UUID_V7} as id from held) made order by made.id)) as pair (event_id, id)
         ) select case when count > ${MAX_REPLAYED} then count else (select count(*) from held)::int end as count,
             pg_notify('${CHANNELS.deliveryChanged}', '') from counted`,
};

/**
 * Sends the events of a time to a webhook again, as far as it is subscribed to them and they are not on their way to it: a new
 * delivery for each, in the caller's transaction, the oldest first.
 * @returns how many
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request` where there are too many
 */
export async function replayEvents(query: Query, id: string, replay: Replay): Promise<number> {
  const webhook = foundWebhook(await lockWebhook(query, id));
  requireEnabled(webhook);
  const { since, until, undeliveredOnly } = replay;
  const { from, to } = idsOfSpan(since, until);
  const [row] = await query<{ count: number }>(REPLAY, [
    webhook.id,
    webhook.events,
    since,
    until ?? null,
    undeliveredOnly,
    from,
    to,
  ]);
  if (row === undefined) throw new Error('A count without a row.');
  if (row.count > MAX_REPLAYED)
    throw invalidField('since', `takes in more than ${MAX_REPLAYED} events: narrow the time down with since and until`);
  return row.count;
}
