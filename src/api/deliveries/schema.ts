import { z } from 'zod';
import { DELIVERY_TRIGGERS } from '../../db/entities/webhook.ts';
import { deliveryStates } from '../../domain/webhooks/delivery-states.ts';
import { CreationTime, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { hiding, shown } from '../../http/unread.ts';
import { EventName, SentEvent } from '../webhooks/schema.ts';

export const Delivery = z
  .object({
    id: shown(z.string().meta({ example: 'dlv_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    webhook_id: shown(z.string()),
    event_id: shown(z.string()),
    event: shown(SentEvent),
    trigger: shown(
      z
        .enum(DELIVERY_TRIGGERS)
        .meta({ description: 'The cause: the event itself, or a request to redeliver, replay or test.' }),
    ),
    status: shown(
      z.enum(deliveryStates.states).meta({
        description:
          '`queued`: the first attempt has not ended. `waiting`: a retry is due at `next_attempt_at`. `failed`: all attempts failed. ' +
          '`abandoned`: the webhook was disabled or deleted.',
      }),
    ),
    status_reason: z.string().nullable().meta({ description: 'The last error, or why it was abandoned.' }),
    attempts_made: shown(z.int()),
    next_attempt_at: shown(Timestamp.nullable()),
    workflow_id: shown(
      z.string().nullable().meta({
        description:
          'The Temporal workflow that waits for retries; null if there was none, for example when the first attempt succeeded.',
      }),
    ),
    created_at: shown(Timestamp),
    finished_at: shown(Timestamp.nullable()),
  })
  .meta({ id: 'Delivery' });

const SentRequest = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()).meta({
    description: 'Includes the signatures. The values of custom headers are hidden.',
  }),
});

const Attempt = z
  .object({
    attempt: z.int().meta({ description: 'The number of the attempt, from 1.' }),
    started_at: Timestamp,
    request: SentRequest.nullable().meta({
      description:
        'The headers sent with the `request_body` of the delivery; null for attempts made before they were recorded.',
    }),
    status: z.int().nullable().meta({ description: 'HTTP status of the response; null if there was none.' }),
    duration_ms: z.int(),
    response_body: z.string().nullable().meta({ description: 'The first 1 KiB of the response body.' }),
    error: z.string().nullable().meta({ description: 'Why the attempt failed; null on success.' }),
  })
  .meta({ id: 'DeliveryAttempt' });

export const DeliveryWithAttempts = hiding(
  Delivery.extend({
    request_body: z.string().nullable().meta({
      description: 'The body of every attempt: the event, exactly as signed. Null if the event no longer exists.',
    }),
    attempts: z.array(Attempt).meta({ description: 'All attempts so far, oldest first.' }),
  }).meta({ id: 'DeliveryWithAttempts' }),
  ['attempts', 'request_body'],
);

export const DeliveryPage = pageOf(Delivery).meta({ id: 'DeliveryPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  status: z.enum(deliveryStates.states, `must be one of ${deliveryStates.states.join(', ')}`).optional(),
  event: EventName.optional(),
  ...CreationTime,
});
