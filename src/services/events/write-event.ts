import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { now } from '../../db/sql.ts';
import type { EventData, EventType } from '../../domain/events.ts';
import { newId } from '../../domain/ids.ts';

/** Writes an event in the transaction of the change that it tells of, and wakes the relay when that commits. */
export async function writeEvent<Type extends EventType>(
  query: Query,
  type: Type,
  data: EventData<Type>,
): Promise<void> {
  await query(
    {
      text: `with written as (
               insert into events (workspace_id, id, type, data, created_at) values ($1, $2, $3, $4, now()) returning 1
             ) select pg_notify('${CHANNELS.eventWritten}', '') from written`,
    },
    [newId(), type, data],
  );
}

/** The fields of an event's `data`, each as an SQL expression. */
type SqlFields<Data> = {
  [Field in keyof Data]: string | (Data[Field] extends object ? SqlFields<Data[Field]> : never);
};

function jsonObject(fields: object): string {
  const pairs = Object.entries(fields).map(
    ([name, value]) => `'${name}', ${typeof value === 'string' ? value : jsonObject(value)}`,
  );
  return `json_build_object(${pairs.join(', ')})`;
}

/**
 * The same as {@link writeEvent} inside the statement that makes the change: an SQL insert for a `with`, which writes an event for each
 * row of `from`. The statement is to notify `CHANNELS.eventWritten`.
 * @param from rows with `workspace_id`
 * @param id of the event, as an SQL expression
 * @param data from columns of `from`
 */
export function insertEvent<Type extends EventType>(
  type: Type,
  { from, id, data }: { from: string; id: string; data: SqlFields<EventData<Type>> },
): string {
  return `insert into events (workspace_id, id, type, data, created_at)
          select workspace_id, ${id}, '${type}', ${jsonObject(data)}, now() from ${from}`;
}

/** What {@link eventOf} selects. */
export const EVENT_COLUMNS = ['workspace_id', 'id', 'type', 'data', 'created_at'] as const;

/**
 * The same for the builder: `with('event', (cte) => cte.insertInto('events').columns(EVENT_COLUMNS)
 * .expression(cte.selectFrom('done').select(eventOf('execution.failed', id, data))))`. `done` has `workspace_id`.
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
