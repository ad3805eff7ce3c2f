import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { notify, now } from '../../db/sql.ts';
import { asJson } from '../../db/statement.ts';
import { publicId } from '../../domain/ids.ts';
import { deliveryStates } from '../../domain/webhooks/delivery-states.ts';
import { type EventType, SAMPLE_DATA } from '../../domain/webhooks/events.ts';
import { recordChange } from '../audit/record-change.ts';

import { newEvent } from '../events/write-event.ts';
import { foundWebhook, lockWebhook, requireEnabled } from './webhooks.ts';

/**
 * Queues a delivery of a sample event to a webhook, in the caller's transaction.
 * @param deliveryId UUID of the new delivery
 * @param type default: the first that the webhook subscribes to
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
  const { eventId, traceparent } = newEvent();
  await query((db) =>
    db
      .with('event', (cte) =>
        cte
          .insertInto('events')
          // It goes to no other webhook, so it counts as dispatched.
          .values({
            id: eventId,
            type: event,
            data: asJson(SAMPLE_DATA[event]),
            test: true,
            traceparent,
            created_at: now,
            dispatched_at: now,
          }),
      )
      .with('made', (cte) =>
        cte.insertInto('deliveries').values({
          id: deliveryId,
          event_id: eventId,
          webhook_id: webhook.id,
          trigger: 'test',
          status: deliveryStates.initial,
          created_at: now,
        }),
      )
      .selectNoFrom(notify(CHANNELS.deliveryChanged, '').as('notified')),
  );
  await recordChange(query, 'webhook.tested', publicId('webhook', id), {
    delivery_id: publicId('delivery', deliveryId),
  });
}
