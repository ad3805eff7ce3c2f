import type { JsonValue } from './json.ts';

/** What webhooks can subscribe to (specification, Events). */
export const EVENT_TYPES = [
  'prompt.created',
  'prompt.updated',
  'execution.completed',
  'execution.failed',
  'evaluation.completed',
  'evaluation.regression',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** What has happened. */
export interface EventContent {
  type: EventType;
  data: { [key: string]: JsonValue };
  createdAt: Date;
}

/**
 * The body of every request that tells of an event: exactly `event`, `data` and `timestamp` (specification, Delivery). The same
 * event always gives the same bytes.
 */
export function eventBody({ type, data, createdAt }: EventContent): Buffer {
  return Buffer.from(JSON.stringify({ event: type, data, timestamp: createdAt.toISOString() }));
}
