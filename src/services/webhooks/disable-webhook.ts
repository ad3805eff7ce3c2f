import { bindWorkspace, type Query, type SystemDatabase } from '../../db/database.ts';
import { type DeliveryStatus, UNFINISHED_DELIVERY } from '../../domain/delivery-states.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { webhookStates } from '../../domain/webhook-states.ts';
import { abandonDeliveries } from '../deliveries/abandon-deliveries.ts';

interface Exhausted {
  workspace_id: string;
  webhook_id: string;
  attempts_made: number;
  reason: string;
}

const READ = {
  text: 'select workspace_id, webhook_id, attempts_made, status_reason as reason from deliveries where id = $1',
};
/** The webhook is locked before any of its deliveries: so does whoever disables or deletes it by request. */
const LOCK = {
  text: `select d.status from deliveries d join webhooks w on w.id = d.webhook_id where d.id = $1 for no key update of w`,
};
const toDisabled = webhookStates.change({ to: 'disabled' });
const DISABLE = {
  text: `update webhooks set ${toDisabled.set}, disabled_reason = $3, next_slot_at = null, updated_at = now()
         where workspace_id = $1 and id = $2 and ${toDisabled.where} returning url`,
};
const NOTIFY = {
  text: `insert into notifications (workspace_id, id, type, message, webhook_id, delivery_id, email_pending, created_at)
         values ($1, $2, 'webhook.disabled', $3, $4, $5, true, now())`,
};
const FIND_NOTIFICATION = { text: 'select id from notifications where delivery_id = $1' };

/**
 * Records the failure of the last retry of a delivery; for it the webhook is disabled, its other deliveries end, and it is noted
 * that the owner is to be told. All of that is one transaction: of several deliveries that fail together, the first does it.
 * @param record stores the attempt in the transaction it is given
 */
export async function failForGood<T>(
  db: SystemDatabase,
  deliveryId: string,
  record: (query: Query) => Promise<T>,
): Promise<{ recorded: T; disabled: boolean }> {
  return db.transaction(async (query) => {
    const [before] = await query<{ status: DeliveryStatus }>(LOCK, [deliveryId]);
    const recorded = await record(query);
    // One that had ended while it was on its way says nothing of a webhook that was enabled again since.
    const isNews = UNFINISHED_DELIVERY.some((status) => status === before?.status);
    return { recorded, disabled: isNews && (await disable(query, deliveryId)) };
  });
}

/** @returns whether it was not disabled or deleted already */
async function disable(query: Query, deliveryId: string): Promise<boolean> {
  const [delivery] = await query<Exhausted & Record<string, unknown>>(READ, [deliveryId]);
  if (delivery === undefined) return false;
  const { webhook_id: webhookId, attempts_made: attempts } = delivery;
  const own = bindWorkspace(query, delivery.workspace_id);
  const failed = `a delivery has failed ${attempts} times: the first attempt and ${attempts - 1} retries, the last one with "${delivery.reason}"`;
  const [webhook] = await own<{ url: string }>(DISABLE, [webhookId, failed]);
  if (webhook === undefined) return false;
  await abandonDeliveries(own, webhookId, 'The webhook was disabled.');
  const message = `The webhook ${publicId('webhook', webhookId)} to ${new URL(webhook.url).host} was disabled, since ${failed}.`;
  await own(NOTIFY, [newId(), message, webhookId, deliveryId]);
  return true;
}

/** @returns the notification that a delivery is the reason of; null where another one was first */
export async function findNotification(query: Query, deliveryId: string): Promise<string | null> {
  const [row] = await query<{ id: string }>(FIND_NOTIFICATION, [deliveryId]);
  return row?.id ?? null;
}
