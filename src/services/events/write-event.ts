import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { notify, now } from '../../db/sql.ts';
import { asJson, prepared } from '../../db/statement.ts';
import type { EventData, EventType } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';

const WRITE = prepared<{ id: string; type: EventType; data: EventData }>()((db, { id, type, data }) =>
  db
    .insertInto('events')
    .values({ id, type, data: asJson(data), created_at: now })
    .returning(notify(CHANNELS.eventWritten, '').as('notified')),
);

/** Writes an event in the transaction of the change that it reports, and wakes the relay when that commits. */
export async function writeEvent<Type extends EventType>(
  query: Query,
  type: Type,
  data: EventData<Type>,
): Promise<void> {
  await query(WRITE, { id: newId(), type, data });
}

/** The columns of {@link eventOf}. */
export const EVENT_COLUMNS = ['workspace_id', 'id', 'type', 'data', 'created_at'] as const;

/**
 * The same inside the statement that makes the change: `with('event', (cte) => cte.insertInto('events').columns(EVENT_COLUMNS)
 * .expression(cte.selectFrom('done').select(eventOf('execution.failed', id, data))))`. `done` has `workspace_id`, and the statement
 * notifies `CHANNELS.eventWritten`.
 */
export const eventOf = <Type extends EventType>(
  type: Type,
  id: Expression<string>,
  data: Expression<EventData<Type>>,
) => [
  sql.ref<string>('workspace_id').as('workspace_id'),
  sql<string>`${id}::uuid`.as('id'),
  sql<Type>`${sql.lit(type)}`.as('type'),
  sql<EventData<Type>>`${data}`.as('data'),
  now.as('created_at'),
];
