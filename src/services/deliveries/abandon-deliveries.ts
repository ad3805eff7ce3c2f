import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';

const unfinished = deliveryStates.in(UNFINISHED_DELIVERY);
const abandoned = deliveryStates.change({ to: 'abandoned' }, 'd');

const ABANDON = {
  text: `with unfinished as (
           select id from deliveries where workspace_id = $1 and webhook_id = $2 and ${unfinished}
           order by id for no key update
         ), ended as (
           update deliveries d set ${abandoned.set}, status_reason = $3, finished_at = now(), next_attempt_at = null,
             to_end = claimed_at is not null
           from unfinished where d.id = unfinished.id and ${abandoned.where} returning d.id, trigger
         ), told as (
           select pg_notify('${CHANNELS.deliveryFinished}', id::text) from ended where trigger = 'test'
         ) select (select count(*) from ended)::int as count, (select count(*) from told)::int as told,
             pg_notify('${CHANNELS.deliveryChanged}', '')`,
};

const ABANDON_ONE = {
  name: 'abandon-delivery',
  text: `update deliveries d set ${abandoned.set}, status_reason = $2, finished_at = now(), next_attempt_at = null, to_end = false
         where id = $1 and ${abandoned.where}
         returning case when trigger = 'test' then pg_notify('${CHANNELS.deliveryFinished}', id::text) end`,
};

/**
 * Ends every delivery of a webhook that has not ended: it was disabled or deleted. Runs in the transaction that does that, after
 * the webhook's row is locked. The workflows are told afterwards, by whoever relays.
 * @param query bound to the webhook's workspace
 * @param reason in words, as shown with each delivery
 * @returns how many were ended
 */
export async function abandonDeliveries(query: Query, webhookId: string, reason: string): Promise<number> {
  const [row] = await query<{ count: number }>(ABANDON, [webhookId, reason]);
  return row?.count ?? 0;
}

/** Ends a delivery without sending it again; one that has ended stays as it is. Its workflow, if any, is the caller's concern. */
export async function abandonOne(query: Query, id: string, reason: string): Promise<void> {
  await query(ABANDON_ONE, [id, reason]);
}
