import { bindWorkspace, type Query, type SystemDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { disableWebhook } from './change-webhook.ts';

/**
 * Records the failure of the last retry of a delivery; for it the webhook is disabled, its other deliveries are abandoned, and
 * its owner is notified. All of that is one transaction: of several deliveries that fail together, the first does it.
 * @param record stores the attempt in the transaction it is given
 */
export async function failForGood<T>(
  db: SystemDatabase,
  deliveryId: string,
  record: (query: Query) => Promise<T>,
): Promise<{ recorded: T; disabled: boolean }> {
  return db.transaction(async (query) => {
    // The webhook is locked before any of its deliveries, as where it is disabled or deleted by request.
    const [before] = await query((own) =>
      own
        .selectFrom('deliveries as d')
        .innerJoin('webhooks as w', 'w.id', 'd.webhook_id')
        .select('d.status')
        .where('d.id', '=', deliveryId)
        .forNoKeyUpdate('w'),
    );
    const recorded = await record(query);
    // One that had ended while it was in flight says nothing of a webhook that was enabled again since.
    const wasUnfinished = UNFINISHED_DELIVERY.some((status) => status === before?.status);
    return { recorded, disabled: wasUnfinished && (await disableAndNotify(query, deliveryId)) };
  });
}

/** @returns whether the webhook was enabled until now */
async function disableAndNotify(query: Query, deliveryId: string): Promise<boolean> {
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
  const message = `The webhook ${publicId('webhook', webhookId)} to ${new URL(webhook.url).host} was disabled, since ${failed}.`;
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

/** @returns the notification that a delivery caused; null where it caused none */
export async function findNotification(query: Query, deliveryId: string): Promise<string | null> {
  const [row] = await query((db) => db.selectFrom('notifications').select('id').where('delivery_id', '=', deliveryId));
  return row?.id ?? null;
}
