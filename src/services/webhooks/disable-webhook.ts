import { bindWorkspace, type SystemDatabase } from '../../db/database.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { abandonDeliveries } from './abandon-deliveries.ts';

interface Exhausted {
  workspace_id: string;
  webhook_id: string;
  attempts_made: number;
  reason: string;
}

const READ = {
  text: 'select workspace_id, webhook_id, attempts_made, status_reason as reason from deliveries where id = $1',
};
const DISABLE = {
  text: `update webhooks set status = 'disabled', disabled_reason = $3, next_slot_at = null, updated_at = now()
         where workspace_id = $1 and id = $2 and status = 'enabled' returning url`,
};
const NOTIFY = {
  text: `insert into notifications (workspace_id, id, type, message, webhook_id, delivery_id, created_at)
         values ($1, $2, 'webhook.disabled', $3, $4, $5, now())`,
};
const FIND_NOTIFICATION = { text: 'select id from notifications where delivery_id = $1' };

/**
 * Disables the webhook of a delivery whose last retry has failed, ends its other deliveries and notes that the owner is to be
 * told, all in one transaction. Of several deliveries that fail together, the first does it.
 * @returns the notification that this delivery is the reason of, also when run again; null where another one was first, or the
 *   webhook was disabled or deleted by a request
 */
export async function disableWebhook(db: SystemDatabase, deliveryId: string): Promise<string | null> {
  return db.transaction(async (query) => {
    const [delivery] = await query<Exhausted>(READ, [deliveryId]);
    if (delivery === undefined) return null;
    const { webhook_id: webhookId, attempts_made: attempts } = delivery;
    const own = bindWorkspace(query, delivery.workspace_id);
    const failed = `a delivery has failed ${attempts} times: the first attempt and ${attempts - 1} retries, the last one with "${delivery.reason}"`;
    const [webhook] = await own<{ url: string }>(DISABLE, [webhookId, failed]);
    if (webhook === undefined) {
      const [earlier] = await query<{ id: string }>(FIND_NOTIFICATION, [deliveryId]);
      return earlier?.id ?? null;
    }
    await abandonDeliveries(own, webhookId, 'The webhook was disabled.');
    const id = newId();
    const message = `The webhook ${publicId('webhook', webhookId)} to ${new URL(webhook.url).host} was disabled, since ${failed}.`;
    await own(NOTIFY, [id, message, webhookId, deliveryId]);
    return id;
  });
}
