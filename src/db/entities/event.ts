import { defineEntity, p } from '@mikro-orm/core';
import type { EventData, EventType } from '../../domain/webhooks/events.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** The outbox: an event is written in the transaction of the change that it reports. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['workspaceId', 'type', 'id'] },
    {
      name: 'events_undispatched_turns_index',
      expression: `create index "events_undispatched_turns_index" on "events" ("workspace_id", "id") where "dispatched_at" is null`,
    },
  ],
  properties: {
    ...workspaceOwned,
    type: p.text().$type<EventType>(),
    /** Kept as it was written, so that every attempt to deliver it sends the same bytes. */
    data: p.json<EventData>().columnType('json'),
    /** Made by trying a webhook: nothing has happened. */
    test: p.boolean().default(false),
    /** The span in which it was written, as W3C Trace Context writes it; null where nothing is traced. */
    traceparent: p.text().nullable(),
    createdAt: timestamp(),
    /** When its deliveries were made, or when it was written, where no webhook was subscribed; null until then. */
    dispatchedAt: timestamp().nullable(),
  },
});
