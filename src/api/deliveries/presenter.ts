import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { AttemptRecord, DeliveryRow } from '../../services/deliveries/deliveries.ts';
import { deliveryWorkflowId } from '../../temporal/names.ts';
import type { Delivery, DeliveryWithAttempts } from './schema.ts';

/** A delivery as callers see it in lists. */
export function presentDelivery(row: DeliveryRow): z.input<typeof Delivery> {
  const { id, webhook_id: webhookId, event_id: eventId, trigger } = row;
  return {
    id: publicId('delivery', id),
    webhook_id: publicId('webhook', webhookId),
    event_id: publicId('event', eventId),
    event: row.event,
    trigger,
    status: row.status,
    status_reason: row.status_reason,
    attempts_made: row.attempts_made,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    workflow_id: deliveryWorkflowId({ id, eventId, webhookId, trigger }),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** The same with what was sent. */
export function presentWithAttempts(row: DeliveryRow, attempts: AttemptRecord[]): z.input<typeof DeliveryWithAttempts> {
  return {
    ...presentDelivery(row),
    attempts: attempts.map(({ attempt, started_at, status, duration_ms, response_body, error }) => ({
      attempt,
      started_at: started_at.toISOString(),
      status,
      duration_ms,
      response_body,
      error,
    })),
  };
}

export const deliveryExample = {
  id: 'dlv_0198f0ab-13d2-7f60-8f4b-6d1f0c5e7b21',
  webhook_id: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  event_id: 'evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58',
  event: 'evaluation.completed',
  trigger: 'event',
  status: 'delivered',
  status_reason: null,
  attempts_made: 1,
  next_attempt_at: null,
  workflow_id: 'webhook-delivery/evt_0198f0ab-13c8-7a1e-b7d0-41c9a2f36e58/wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
  created_at: '2026-01-31T12:00:38.354Z',
  finished_at: '2026-01-31T12:00:38.571Z',
};

/** The example of a delivery that a request made. */
export function requestedExample(trigger: 'redelivery' | 'test', status: 'queued' | 'delivered') {
  const workflowId = `${deliveryExample.workflow_id}/${deliveryExample.id}`;
  const made = { ...deliveryExample, trigger, status, workflow_id: workflowId };
  return status === 'delivered' ? made : { ...made, attempts_made: 0, finished_at: null };
}

export const attemptExample = {
  attempt: 1,
  started_at: '2026-01-31T12:00:38.391Z',
  status: 200,
  duration_ms: 176,
  response_body: 'ok',
  error: null,
};
