import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import type { AttemptRecord, DeliveryRow } from '../../services/webhooks/deliveries/deliveries.ts';
import { deliveryWorkflowId } from '../../temporal/names.ts';
import type { Delivery, DeliveryWithAttempts } from './schema.ts';

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
    workflow_id: row.started_at === null ? null : deliveryWorkflowId({ id, eventId, webhookId, trigger }),
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

export function presentWithAttempts(
  row: DeliveryRow,
  body: string | undefined,
  attempts: AttemptRecord[],
): z.input<typeof DeliveryWithAttempts> {
  return {
    ...presentDelivery(row),
    request_body: body ?? null,
    attempts: attempts.map(({ attempt, started_at, request, status, duration_ms, response_body, error }) => ({
      attempt,
      started_at: started_at.toISOString(),
      request,
      status,
      duration_ms,
      response_body,
      error,
    })),
  };
}
