import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { EventType } from '../../domain/events.ts';
import type { JsonValue } from '../../domain/json.ts';
import { ownedByWorkspace, timestamp, workspaceOwned } from './workspace-owned.ts';

/** The outbox: a row is written in the transaction of the change that it tells of. */
export const Event = defineEntity({
  name: 'Event',
  tableName: 'events',
  filters: ownedByWorkspace,
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    ...workspaceOwned,
    type: p.text().$type<EventType>(),
    data: p.json<{ [key: string]: JsonValue }>().columnType('jsonb'),
    createdAt: timestamp(),
    /** When the relay handed it to the webhooks; null until then. */
    dispatchedAt: timestamp().nullable(),
  },
});

export type Event = InferEntity<typeof Event>;
