import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { deliveryStates } from '../../domain/delivery-states.ts';
import type { EventType } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';
import { SAMPLE_DATA } from '../events/samples.ts';
import { foundWebhook, lockWebhook, requireEnabled } from './webhooks.ts';

/** The event goes to no other webhook: it counts as dispatched. */
const QUEUE = {
  text: `with event as (
           insert into events (workspace_id, id, type, data, test, created_at, dispatched_at)
           values ($1, $2, $3, $4, true, now(), now()) returning id
         ), made as (
           insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
           select $1, $5, id, $6, 'test', '${deliveryStates.initial}', now() from event returning 1
         ) select pg_notify('${CHANNELS.deliveryChanged}', '') from made`,
};

/**
 * Queues a delivery of a sample event to a webhook, in the caller's transaction.
 * @param deliveryId UUID of the new delivery
 * @param type by default the first that the webhook is subscribed to
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function testWebhook(
  query: Query,
  id: string,
  { type, deliveryId }: { type: EventType | undefined; deliveryId: string },
): Promise<void> {
  const webhook = foundWebhook(await lockWebhook(query, id));
  requireEnabled(webhook);
  const [first] = webhook.events;
  const event = type ?? first;
  if (event === undefined) throw new Error('A webhook without events.');
  await query(QUEUE, [newId(), event, SAMPLE_DATA[event], deliveryId, webhook.id]);
}
