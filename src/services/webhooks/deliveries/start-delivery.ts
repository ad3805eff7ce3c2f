import { type Selection, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import type { Tables } from '../../../db/tables.ts';
import { publicId } from '../../../domain/ids.ts';
import { deliveryStates } from '../../../domain/webhooks/delivery-states.ts';
import { deliveryWorkflowId } from '../../../temporal/names.ts';
import { startWorkflow, type WorkflowStarter } from '../../../temporal/workflows.ts';
import type { FirstWait, webhookDelivery } from '../../../workflows/webhook-delivery.ts';
import { abandonOne } from './abandon-deliveries.ts';

/** The columns that a workflow is started with: of a delivery `d`, its event `e` and its webhook `w`, which may have been deleted. */
export const STORED_DELIVERY = [
  'd.id',
  'd.workspace_id as workspaceId',
  'd.event_id as eventId',
  'd.webhook_id as webhookId',
  'd.trigger',
  'e.type as event',
  'w.url',
  'd.attempts_made as attemptsMade',
] as const;

export type StoredDelivery = Selection<
  {
    d: Tables['deliveries'];
    e: Tables['events'];
    w: { [Column in keyof Tables['webhooks']]: Tables['webhooks'][Column] | null };
  },
  'd' | 'e' | 'w',
  (typeof STORED_DELIVERY)[number]
>;

export type { FirstWait };

export interface DeliveryStarter extends WorkflowStarter {
  /** `WEBHOOK_RETRY_WAITS` */
  retryWaitsMs: number[];
}

/**
 * Starts the workflow of a stored delivery and marks the delivery as started, or abandons it if its webhook was deleted: a relay
 * may have created it just after the deletion abandoned all others. Idempotent.
 * @param firstWait what the workflow starts with, instead of an attempt
 * @returns whether a workflow was started
 */
export async function startDelivery(
  query: Query,
  starter: DeliveryStarter,
  delivery: StoredDelivery,
  firstWait?: FirstWait,
): Promise<boolean> {
  const { id, url } = delivery;
  if (url === null) {
    await abandonOne(query, id, 'The webhook was deleted.');
    return false;
  }
  const started = await startDeliveryWorkflow(starter, { ...delivery, url }, firstWait);
  await query(MARK_STARTED, { id });
  return started;
}

/** A delivery abandoned while its workflow was started is left to the relay, which signals the workflow. */
const MARK_STARTED = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('deliveries as d')
    .set({
      started_at: sql<Date>`coalesce(started_at, now())`,
      to_end: inStates(deliveryStates, ['abandoned'], 'd').$castTo<boolean>(),
      check_at: sql<Date>`greatest(check_at, next_attempt_at + interval '1 minute')`,
    })
    .where('id', '=', id),
);

function startDeliveryWorkflow(
  starter: DeliveryStarter,
  delivery: StoredDelivery & { url: string },
  firstWait?: FirstWait,
): Promise<boolean> {
  const { host } = new URL(delivery.url);
  const { id, event, attemptsMade } = delivery;
  return startWorkflow<typeof webhookDelivery>(starter, {
    type: 'webhookDelivery',
    id: deliveryWorkflowId(delivery),
    queue: 'webhooks',
    workspaceId: delivery.workspaceId,
    args: [
      {
        deliveryId: id,
        event,
        host,
        // A test shows the result of only one attempt.
        retryWaitsMs: delivery.trigger === 'test' ? [] : starter.retryWaitsMs,
        ...(attemptsMade > 0 && { attemptsMade }),
        ...(firstWait !== undefined && { firstWait }),
      },
    ],
    summary: `${event} to ${host}`,
    attributes: { webhook: publicId('webhook', delivery.webhookId), event: publicId('event', delivery.eventId) },
  });
}
