import { TypedSearchAttributes } from '@temporalio/common';
import type { Selection } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { publicId } from '../../domain/ids.ts';
import { deliveryWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { startWorkflowOnce, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { webhookDelivery } from '../../workflows/webhook-delivery.ts';
import { abandonOne } from './abandon-deliveries.ts';

/** What a workflow is started with, of a delivery `d`, its event `e` and its webhook `w`, which may have been deleted. */
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

export interface DeliveryStarter extends WorkflowStarter {
  /** `WEBHOOK_RETRY_WAITS` */
  retryWaitsMs: number[];
}

/**
 * Starts the workflow of a stored delivery, or abandons the delivery if its webhook was deleted: a relay may have made it just after
 * the deletion had abandoned all others. Idempotent.
 * @returns whether a workflow was started
 */
export async function startDelivery(
  query: Query,
  starter: DeliveryStarter,
  delivery: StoredDelivery,
): Promise<boolean> {
  const { url } = delivery;
  if (url !== null) return startDeliveryWorkflow(starter, { ...delivery, url });
  await abandonOne(query, delivery.id, 'The webhook was deleted.');
  return false;
}

function startDeliveryWorkflow(starter: DeliveryStarter, delivery: StoredDelivery & { url: string }): Promise<boolean> {
  const { host } = new URL(delivery.url);
  const { attemptsMade } = delivery;
  const workspace = publicId('workspace', delivery.workspaceId);
  return startWorkflowOnce<typeof webhookDelivery>(starter, 'webhookDelivery', {
    // Activities inherit it: servers that support fairness dispatch the tasks of workspaces round robin.
    priority: { fairnessKey: workspace },
    workflowId: deliveryWorkflowId(delivery),
    taskQueue: starter.taskQueues.webhooks,
    args: [
      {
        deliveryId: delivery.id,
        host,
        // Trying a webhook out shows what comes of one attempt.
        retryWaitsMs: delivery.trigger === 'test' ? [] : starter.retryWaitsMs,
        ...(attemptsMade > 0 && { attemptsMade }),
      },
    ],
    staticSummary: `${delivery.event} to ${host}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.webhook, value: publicId('webhook', delivery.webhookId) },
      { key: SEARCH_ATTRIBUTES.event, value: publicId('event', delivery.eventId) },
    ]),
  });
}
