import { z } from 'zod';
import { DELIVERY_TRIGGERS } from '../../db/entities/webhook.ts';
import { deliveryStates } from '../../domain/delivery-states.ts';
import { Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { EventName } from '../webhooks/schema.ts';

export const Delivery = z
  .object({
    id: z.string().meta({ example: 'dlv_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    webhook_id: z.string(),
    event_id: z.string(),
    event: EventName,
    trigger: z.enum(DELIVERY_TRIGGERS).meta({ description: 'What made it: the event itself, or a request.' }),
    status: z.enum(deliveryStates.states).meta({
      description:
        '`queued`: before the end of its first attempt. `waiting`: for a retry. `abandoned`: the webhook was disabled or deleted.',
    }),
    status_reason: z.string().nullable(),
    attempts_made: z.int(),
    next_attempt_at: Timestamp.nullable(),
    workflow_id: z.string(),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Delivery' });

const Attempt = z
  .object({
    attempt: z.int().meta({ description: 'From 1.' }),
    started_at: Timestamp,
    status: z.int().nullable().meta({ description: 'Of the answer; null where there was none.' }),
    duration_ms: z.int(),
    response_body: z.string().nullable().meta({ description: 'The first 1 KiB of the answer.' }),
    error: z.string().nullable().meta({ description: 'Why it failed; null where it did not.' }),
  })
  .meta({ id: 'DeliveryAttempt' });

export const DeliveryWithAttempts = Delivery.extend({
  attempts: z.array(Attempt).meta({ description: 'What was sent so far, the first attempt first.' }),
}).meta({ id: 'DeliveryWithAttempts' });

export const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  status: z.enum(deliveryStates.states, `must be one of ${deliveryStates.states.join(', ')}`).optional(),
  event: EventName.optional(),
  since: TimestampInput.optional().meta({ description: 'Created at or after this time.' }),
  until: TimestampInput.optional().meta({ description: 'Created before this time.' }),
});
