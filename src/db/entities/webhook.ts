import { defineEntity, p } from '@mikro-orm/core';
import { deliveryStates } from '../../domain/webhooks/delivery-states.ts';
import type { EventType } from '../../domain/webhooks/events.ts';
import type { SentRequest } from '../../domain/webhooks/sent-request.ts';
import { webhookStates } from '../../domain/webhooks/webhook-states.ts';
import { deliveryStorageTriggers } from '../storage-triggers.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** The trigger of a delivery: the event itself, or a caller's request to send it again or to test the webhook. */
export const DELIVERY_TRIGGERS = ['event', 'redelivery', 'replay', 'test'] as const;
export type DeliveryTrigger = (typeof DELIVERY_TRIGGERS)[number];

const oneOf = <S extends string>(names: readonly S[]) =>
  p.enum(() => Object.fromEntries(names.map((name) => [name, name]))).$type<S>();

/** A registered endpoint. Its secrets are stored encrypted. */
export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    ...workspaceOwned,
    url: p.text(),
    events: p.array().$type<EventType[]>(),
    description: p.text().nullable(),
    status: oneOf(webhookStates.states),
    disabledReason: p.text().nullable(),
    /** Failed attempts since the last successful one. */
    consecutiveFailures: p.integer().default(0),
    lastDeliveryAt: timestamp().nullable(),
    /** Encrypted. */
    secret: p.blob().$type<Buffer>(),
    /** The secret before the last rotation, encrypted; it also signs until `previousSecretExpiresAt`. */
    previousSecret: p.blob().$type<Buffer>().nullable(),
    previousSecretExpiresAt: timestamp().nullable(),
    /** Custom headers: JSON of name to value, encrypted. */
    headers: p.blob().$type<Buffer>().nullable(),
    /** Attempts per minute; null: no limit. */
    rateLimitPerMinute: p.integer().nullable(),
    /** With a rate limit: the time of the next free slot. */
    nextSlotAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** The delivery of one event to one webhook. It outlives its webhook, whose id is kept. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  triggers: deliveryStorageTriggers,
  indexes: [
    { properties: ['workspaceId', 'webhookId', 'id'] },
    { properties: ['workspaceId', 'webhookId', 'status', 'id'] },
    { properties: ['eventId'] },
    {
      name: 'deliveries_event_once_unique',
      expression: `create unique index "deliveries_event_once_unique" on "deliveries" ("event_id", "webhook_id") where "trigger" = 'event'`,
    },
    {
      name: 'deliveries_unfinished_index',
      expression: `create index "deliveries_unfinished_index" on "deliveries" ("webhook_id", "id") where "status" in ('queued', 'waiting')`,
    },
    {
      name: 'deliveries_unstarted_turns_index',
      expression: `create index "deliveries_unstarted_turns_index" on "deliveries" ("workspace_id", ("trigger" = 'replay'), "id") where "status" = 'queued' and "started_at" is null`,
    },
    {
      name: 'deliveries_overdue_index',
      expression: `create index "deliveries_overdue_index" on "deliveries" ("check_at") where "status" in ('queued', 'waiting') and ("status" = 'waiting' or "started_at" is not null)`,
    },
    {
      name: 'deliveries_to_end_index',
      expression: `create index "deliveries_to_end_index" on "deliveries" ("id") where "to_end"`,
    },
  ],
  properties: {
    ...workspaceOwned,
    eventId: p.uuid(),
    webhookId: p.uuid(),
    trigger: oneOf(DELIVERY_TRIGGERS),
    status: oneOf(deliveryStates.states),
    /** Why it waits or ended, in words; null if there is nothing to say. */
    statusReason: p.text().nullable(),
    attemptsMade: p.integer().default(0),
    /** When to send it next. */
    nextAttemptAt: timestamp().nullable(),
    /** With a rate limit: the slot of its next attempt. */
    slotAt: timestamp().nullable(),
    /**
     * When a relay last claimed its first attempt. The claim is a lease: after it expires, another relay makes the attempt if it
     * has no result.
     */
    claimedAt: timestamp().nullable(),
    /** When its workflow was started; null if it needs none, or has none yet. */
    startedAt: timestamp().nullable(),
    /** The delivery has ended, and the relay still has to signal its workflow. */
    toEnd: p.boolean().default(false),
    /** When it is overdue and its workflow is checked. */
    checkAt: timestamp().defaultRaw("(now() + '00:01:00'::interval)"),
    createdAt: timestamp(),
    finishedAt: timestamp().nullable(),
  },
});

/** One request to a webhook and its result. */
export const DeliveryAttempt = defineEntity({
  name: 'DeliveryAttempt',
  tableName: 'delivery_attempts',
  properties: {
    delivery: () => p.manyToOne(Delivery).deleteRule('cascade').primary(),
    /** From 1. */
    attempt: p.integer().primary(),
    startedAt: timestamp(),
    /** The request as sent, except for the body, which is the event's. Null for attempts from before it was stored. */
    request: p.json<SentRequest>().columnType('json').nullable(),
    durationMs: p.integer(),
    /** The status of the response; null if there was none. */
    status: p.integer().nullable(),
    /** The start of the response body. */
    responseBody: p.text().nullable(),
    /** Why it failed, in words; null if it did not. */
    error: p.text().nullable(),
  },
});
