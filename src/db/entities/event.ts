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
    /** Kept as written, so that every delivery attempt sends the same bytes. */
    data: p.json<EventData>().columnType('json'),
    /** Created by a webhook test: nothing has happened. */
    test: p.boolean().default(false),
    /** The span in which it was written, in the format of W3C Trace Context; null if nothing is traced. */
    traceparent: p.text().nullable(),
    createdAt: timestamp(),
    /** When its deliveries were created, or when it was written if no webhook subscribed; null until then. */
    dispatchedAt: timestamp().nullable(),
  },
});
