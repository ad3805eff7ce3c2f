import { z } from 'zod';
import { EVENT_TYPES } from '../../domain/events.ts';
import { signingSecretProblem } from '../../domain/webhook-signature.ts';
import { webhookStates } from '../../domain/webhook-states.ts';
import { Timestamp, TimestampInput } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { MAX_URL_LENGTH } from '../../outbound/target.ts';
import { MAX_REPLAYED } from '../../services/deliveries/replay-events.ts';
import { OVERLAP_HOURS } from '../../services/webhooks/change-webhook.ts';
import { OwnHeaders } from './header-rules.ts';

export const EventName = z.enum(EVENT_TYPES, `must be one of ${EVENT_TYPES.join(', ')}`);

/** Its form; which hosts it may have depends on the settings. */
const Url = z
  .string('is required: a text')
  .max(MAX_URL_LENGTH, `must be at most ${MAX_URL_LENGTH} characters`)
  .refine((url) => !/[\s\p{Cc}]/u.test(url), 'must not hold spaces or line ends')
  .meta({
    description: 'Where the events go: `https:`. Other addresses only where the operator allows them.',
    example: 'https://example.com/hooks/prompts',
  });

const Events = z
  .array(EventName)
  .min(1, 'must name at least one event')
  .max(EVENT_TYPES.length, 'must name each event once')
  .refine((names) => new Set(names).size === names.length, 'must name each event once')
  .meta({ uniqueItems: true, description: 'The events it is called for.' });

const Description = z.string().max(500, 'must be at most 500 characters').nullable();

const RateLimit = z
  .int('must be a whole number from 1 to 6000')
  .min(1, 'must be a whole number from 1 to 6000')
  .max(6000, 'must be a whole number from 1 to 6000')
  .nullable()
  .meta({ description: 'At most so many requests a minute, what is above waits; null: no limit.' });

const Secret = z
  .string()
  .check((context) => {
    const message = signingSecretProblem(context.value);
    if (message !== undefined) context.issues.push({ code: 'custom', message, input: undefined });
  })
  .meta({
    description:
      '24–128 visible ASCII characters; after `whsec_`, if it starts so, padded base64. Generated unless given.',
    minLength: 24,
    maxLength: 128,
    pattern: '^[\\x21-\\x7e]+$',
  });

export const CreateWebhook = z
  .strictObject({
    url: Url,
    events: Events.default([...EVENT_TYPES]),
    secret: Secret.optional(),
    description: Description.default(null),
    headers: OwnHeaders.default({}),
    rate_limit_per_minute: RateLimit.default(null),
  })
  .meta({ id: 'CreateWebhook' });

export const UpdateWebhook = z
  .strictObject({
    url: Url.optional(),
    events: Events.optional(),
    description: Description.optional(),
    headers: OwnHeaders.nullable()
      .optional()
      .meta({ description: 'In place of all that there are; null or `{}` for none.' }),
    rate_limit_per_minute: RateLimit.optional(),
  })
  .refine((changes) => Object.keys(changes).length > 0, {
    error: 'Give at least one field to change.',
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: 'UpdateWebhook', minProperties: 1 });

export const RotateSecret = z.strictObject({ secret: Secret.optional() }).meta({ id: 'RotateSecret' });

export const TestWebhook = z
  .strictObject({
    event: EventName.optional().meta({
      description: 'What to send an example of; the first it is called for unless given.',
    }),
  })
  .meta({ id: 'TestWebhook' });

export const ReplayEvents = z
  .strictObject({
    since: TimestampInput.meta({ description: 'Events of this time or later.' }),
    until: TimestampInput.optional().meta({ description: 'Events before this time; without it, all up to now.' }),
    undelivered_only: z
      .boolean()
      .default(false)
      .meta({ description: 'Leaves out those that were delivered to this webhook.' }),
  })
  .refine(({ since, until }) => until === undefined || since < until, {
    message: 'must be after since',
    path: ['until'],
  })
  .meta({ id: 'ReplayEvents' });

export const Replayed = z
  .object({ replayed: z.int().meta({ description: `How many deliveries were made: ${MAX_REPLAYED} at most.` }) })
  .meta({ id: 'ReplayedEvents' });

export const Webhook = z
  .object({
    id: z.string().meta({ example: 'wh_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11' }),
    url: z.string(),
    events: z.array(EventName),
    description: z.string().nullable(),
    status: z.enum(webhookStates.states),
    disabled_reason: z.string().nullable(),
    consecutive_failures: z
      .int()
      .meta({ description: 'Attempts that failed since the last one that was answered well.' }),
    rate_limit_per_minute: z.int().nullable(),
    header_names: z.array(z.string()).nullable().meta({
      description:
        'Names of the headers of your own; null where the key that they were encrypted with is not configured any more.',
    }),
    previous_secret_expires_at: Timestamp.nullable().meta({
      description: `Until when the secret before the last rotation signs as well: ${OVERLAP_HOURS} hours.`,
    }),
    last_delivery_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Webhook' });

export const WebhookWithSecret = Webhook.extend({
  secret: z.string().meta({ description: 'What signs. It is shown this once and stored encrypted.' }),
}).meta({ id: 'WebhookWithSecret' });

export const WebhookPage = pageOf(Webhook).meta({ id: 'WebhookPage' });

export const ListQuery = z.strictObject({
  ...PageQuery,
  status: z.enum(webhookStates.states, `must be one of ${webhookStates.states.join(', ')}`).optional(),
});
