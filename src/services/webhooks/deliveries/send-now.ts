import type { Client } from '@temporalio/client';
import type { WorkspaceDatabase } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { ApiError } from '../../../domain/errors.ts';
import { publicId } from '../../../domain/ids.ts';
import { deliveryWorkflowId } from '../../../temporal/names.ts';
import { signalWorkflow } from '../../../temporal/workflows.ts';
import { recordChange } from '../../audit/record-change.ts';
import { type DeliveryRow, getDelivery, hasEnded } from './deliveries.ts';

function requireWaiting(row: DeliveryRow): void {
  if (hasEnded(row))
    throw new ApiError('invalid_state', `This delivery is ${row.status}: redeliver its event to send it again.`);
  if (row.status !== 'waiting')
    throw new ApiError(
      'invalid_state',
      'The first attempt of this delivery is still in progress and is sent automatically.',
    );
}

/**
 * Sends a delivery that waits for its next retry now. The waits after that retry and the webhook's rate limit still apply.
 * @throws ApiError `not_found`, `invalid_state` if it is not waiting
 * @throws Error if Temporal is down; nothing has changed then
 */
export async function sendNow(db: WorkspaceDatabase, client: Client, id: string): Promise<DeliveryRow> {
  const row = await getDelivery(db, id);
  requireWaiting(row);
  const { event_id: eventId, webhook_id: webhookId, trigger } = row;
  const workflowId = deliveryWorkflowId({ id: row.id, eventId, webhookId, trigger });
  const isNotified = await signalWorkflow(client, workflowId, 'sendNow', String(row.attempts_made));
  return db.transaction(async (query) => {
    await query((own) =>
      own
        .updateTable('deliveries')
        // A delivery without a workflow soon gets one from the reconciliation, which then finds nothing to wait for.
        .set({ next_attempt_at: now, ...(!isNotified && { check_at: now }) })
        .where('id', '=', row.id)
        // The attempt may have already ended.
        .where('status', '=', 'waiting')
        .where('attempts_made', '=', row.attempts_made),
    );
    await recordChange(query, 'webhook.redelivered', publicId('webhook', webhookId), {
      delivery_id: publicId('delivery', row.id),
      now: true,
      event_id: publicId('event', eventId),
    });
    return getDelivery({ query }, row.id);
  });
}
