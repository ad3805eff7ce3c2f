import { z } from 'zod';
import { EndpointUrl, SigningSecret } from '../../domain/webhooks/endpoint.ts';
import { DEFAULT_EVENT_TYPES, EVENT_TYPES } from '../../domain/webhooks/events.ts';
import { webhookStates } from '../../domain/webhooks/webhook-states.ts';
import { growing, Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { shown } from '../../http/unread.ts';
import { OVERLAP_HOURS } from '../../services/webhooks/change-webhook.ts';
import { MAX_REPLAYED } from '../../services/webhooks/deliveries/replay-events.ts';
import { CustomHeaders } from './header-rules.ts';

export const EventName = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`).meta({ id: 'EventType' });

/** The type of an event in a response. */
export const SentEvent = growing(EVENT_TYPES).meta({ id: 'EventName' });

const Url = EndpointUrl.meta({
  description: 'The `https:` URL that receives the events. The operator may allow other URLs.',
  example: 'https://example.com/hooks/prompts',
});

const Events = z
  .array(EventName)
  .min(1, 'must name at least one event')
  .max(EVENT_TYPES.length, 'must name each event once')
  .refine((names) => new Set(names).size === names.length, 'must name each event once')
  .meta({
    uniqueItems: true,
    description:
      'The event types that the webhook subscribes to. Events of releases and traces are sent only to webhooks that name them.',
  });

const Description = z.string().max(500, 'must be at most 500 characters').nullable();

const RateLimit = z
  .int('must be a whole number from 1 to 6000')
  .min(1, 'must be a whole number from 1 to 6000')
  .max(6000, 'must be a whole number from 1 to 6000')
  .nullable()
  .meta({ description: 'Requests per minute; deliveries beyond the limit wait. Null: no limit.' });

export const CreateWebhook = z
  .strictObject({
    url: Url,
    events: Events.default([...DEFAULT_EVENT_TYPES]),
    secret: SigningSecret.optional(),
    description: Description.default(null),
    headers: CustomHeaders.default({}),
    rate_limit_per_minute: RateLimit.default(null),
  })
  .meta({ id: 'CreateWebhook' });

export const UpdateWebhook = z
  .strictObject({
    url: Url.optional(),
    events: Events.optional(),
    description: Description.optional(),
    headers: CustomHeaders.nullable()
      .optional()
      .meta({ description: 'Replaces all headers; null or `{}` removes them.' }),
    rate_limit_per_minute: RateLimit.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, {
    error: 'Give at least one field to change.',
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: 'UpdateWebhook', minProperties: 1 });

export const RotateSecret = z.strictObject({ secret: SigningSecret.optional() }).meta({ id: 'RotateSecret' });

export const TestWebhook = z
  .strictObject({
    event: EventName.optional().meta({
      description: 'The type of the test event. Default: the first event that the webhook is subscribed to.',
    }),
  })
  .meta({ id: 'TestWebhook' });

export const ReplayEvents = z
  .strictObject({
    since: TimestampInput.meta({ description: 'Events created at or after this time.' }),
    until: TimestampInput.optional().meta({ description: 'Events created before this time. Default: now.' }),
    undelivered_only: z
      .boolean()
      .default(false)
      .meta({ description: 'Leaves out events that were delivered to this webhook.' }),
  })
  .refine(({ since, until }) => until === undefined || since < until, {
    message: 'must be after since',
    path: ['until'],
  })
  .meta({ id: 'ReplayEvents' });

export const Replayed = z
  .object({ replayed: shown(z.int().meta({ description: `The number of new deliveries, ${MAX_REPLAYED} at most.` })) })
  .meta({ id: 'ReplayedEvents' });

export const Webhook = z
  .object({
    id: shown(z.string().meta({ example: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' })),
    url: z.string(),
    events: shown(z.array(SentEvent)),
    description: z.string().nullable(),
    status: shown(z.enum(webhookStates.states)),
    disabled_reason: z.string().nullable(),
    consecutive_failures: shown(z.int().meta({ description: 'Failed attempts since the last successful one.' })),
    rate_limit_per_minute: shown(z.int().nullable()),
    header_names: z.array(z.string()).nullable().meta({
      description:
        'Names of the custom headers; null if they cannot be decrypted because their encryption key is no longer configured.',
    }),
    previous_secret_expires_at: shown(
      Timestamp.nullable().meta({
        description: `When the previous secret stops signing: ${OVERLAP_HOURS} hours after the rotation.`,
      }),
    ),
    last_delivery_at: shown(Timestamp.nullable()),
    created_at: shown(Timestamp),
    updated_at: shown(Timestamp),
  })
  .meta({ id: 'Webhook' });

export const WebhookWithSecret = Webhook.extend({
  secret: shown(z.string().meta({ description: 'The signing secret. It is stored encrypted and not shown again.' })),
}).meta({ id: 'WebhookWithSecret' });

export const WebhookPage = pageOf(Webhook).meta({ id: 'WebhookPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  status: z.enum(webhookStates.states, `must be one of ${webhookStates.states.join(', ')}`).optional(),
});
