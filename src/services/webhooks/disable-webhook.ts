import { bindWorkspace, type Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { disableWebhook } from './change-webhook.ts';

/**
 * Disables the webhook of a delivery whose last retry has failed, and notifies its owner; in the caller's transaction.
 * @returns whether it was enabled before
 */
export async function disableForFailure(query: Query, deliveryId: string): Promise<boolean> {
  const [delivery] = await query((db) =>
    db
      .selectFrom('deliveries')
      .select(['workspace_id', 'webhook_id', 'attempts_made', 'status_reason'])
      .where('id', '=', deliveryId),
  );
  if (delivery === undefined) return false;
  const { webhook_id: webhookId, attempts_made: attempts, status_reason: lastError } = delivery;
  const own = bindWorkspace(query, delivery.workspace_id);
  const failed = `a delivery has failed ${attempts} times: the first attempt and ${attempts - 1} retries, the last one with "${lastError}"`;
  const webhook = await disableWebhook(own, webhookId, failed);
  if (webhook === undefined) return false;
  const message = `The webhook ${publicId('webhook', webhookId)} to ${new URL(webhook.url).host} was disabled because ${failed}.`;
  await own((db) =>
    db.insertInto('notifications').values({
      id: newId(),
      type: 'webhook.disabled',
      message,
      webhook_id: webhookId,
      delivery_id: deliveryId,
      email_pending: true,
      created_at: now,
    }),
  );
  return true;
}

/** @returns the notification that a delivery caused; null if none */
export async function findNotification(query: Query, deliveryId: string): Promise<string | null> {
  const [row] = await query((db) => db.selectFrom('notifications').select('id').where('delivery_id', '=', deliveryId));
  return row?.id ?? null;
}
