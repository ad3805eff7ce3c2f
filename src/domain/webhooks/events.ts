import type { z } from 'zod';
import { DECLARATIONS } from '../capabilities.ts';
import { merge } from '../capability.ts';

const EVENTS = merge(DECLARATIONS, 'events');
export type EventType = keyof typeof EVENTS;
export type EventData<Type extends EventType = EventType> = z.infer<(typeof EVENTS)[Type]['data']>;

const ALL = Object.entries(EVENTS) as [EventType, (typeof EVENTS)[EventType]][];
const DEFAULT = ALL.filter(([, { byDefault }]) => byDefault);
const ORDERED = [...DEFAULT, ...ALL.filter(([, { byDefault }]) => !byDefault)];

/** The events that webhooks can subscribe to (specification, Events), starting with the default ones. */
export const EVENT_TYPES = ORDERED.map(([type]) => type);
/** The events for webhooks without a list of events: those of the specification. Others must be named. */
export const DEFAULT_EVENT_TYPES = DEFAULT.map(([type]) => type);
/** The schema of `data` of each type. */
export const EVENT_DATA = Object.fromEntries(ORDERED.map(([type, { data }]) => [type, data])) as {
  [Type in EventType]: (typeof EVENTS)[Type]['data'];
};
/** A sample of each event's `data`, for webhook tests and the documentation. */
export const SAMPLE_DATA = Object.fromEntries(ORDERED.map(([type, { sample }]) => [type, sample])) as {
  [Type in EventType]: EventData<Type>;
};

/**
 * The body of every request that delivers an event: exactly `event`, `data` and `timestamp` (specification, Delivery). The same
 * event always gives the same bytes.
 */
export function eventBody(event: { type: EventType; data: EventData; createdAt: Date }): Buffer {
  const { type, data, createdAt } = event;
  return Buffer.from(JSON.stringify({ event: type, data, timestamp: createdAt.toISOString() }));
}
