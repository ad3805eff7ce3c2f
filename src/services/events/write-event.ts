import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { notify, now } from '../../db/sql.ts';
import { asJson, type Parameters, prepared } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { newId } from '../../domain/ids.ts';
import type { EventData, EventType } from '../../domain/webhooks/events.ts';
import { currentTraceparent } from '../../lib/traceparent.ts';
import { isSubscribed } from './is-subscribed.ts';

const subscriptions = (type: Expression<EventType>) =>
  expressionBuilder<Tables>().selectFrom('webhooks as w').select('w.id').where(isSubscribed(type));
/** Null if there are subscriptions, so that the relay dispatches the event. Most events have none. */
const dispatchedAt = (found: ReturnType<typeof subscriptions>) => {
  const eb = expressionBuilder<Tables>();
  return eb.case().when(eb.exists(found)).then(null).else(now).end();
};
const isUndispatched = sql<SqlBool>`dispatched_at is null`;

/** An event to be written, and the span in which it is written and its deliveries continue. */
export interface NewEvent {
  eventId: string;
  /** Null if nothing is traced. */
  traceparent: string | null;
}

export const newEvent = (): NewEvent => ({ eventId: newId(), traceparent: currentTraceparent() ?? null });

const WRITE = prepared<NewEvent & { type: EventType; data: EventData }>()((db, { eventId, traceparent, type, data }) =>
  db
    .insertInto('events')
    .values({
      id: eventId,
      type,
      data: asJson(data),
      traceparent,
      created_at: now,
      dispatched_at: dispatchedAt(subscriptions(sql`${type}::text`)),
    })
    .returning((eb) => eb.case().when(isUndispatched).then(notify(CHANNELS.eventWritten, '')).end().as('notified')),
);

/** Writes an event in the transaction of the change that it reports, and wakes the relay on commit if a webhook subscribes to it. */
export async function writeEvent<Type extends EventType>(
  query: Query,
  type: Type,
  data: EventData<Type>,
): Promise<void> {
  await query(WRITE, { ...newEvent(), type, data });
}

/** The columns of {@link eventOf}. */
export const EVENT_COLUMNS = [
  'workspace_id',
  'id',
  'type',
  'data',
  'traceparent',
  'created_at',
  'dispatched_at',
] as const;

/**
 * The same inside the statement that makes the change: `with('event', (cte) => cte.insertInto('events').columns(EVENT_COLUMNS)
 * .expression(cte.selectFrom('done').select(eventOf('execution.failed', event, data))).returning('dispatched_at'))`. `done` has
 * `workspace_id`, and the statement selects {@link EVENT_NOTIFICATION}.
 */
export const eventOf = <Type extends EventType>(
  type: Type,
  { eventId, traceparent }: Parameters<NewEvent>,
  data: Expression<EventData<Type>>,
) => [
  sql.ref<string>('workspace_id').as('workspace_id'),
  sql<string>`${eventId}::uuid`.as('id'),
  sql<Type>`${sql.lit(type)}`.as('type'),
  sql<EventData<Type>>`${data}`.as('data'),
  sql<string | null>`${traceparent}::text`.as('traceparent'),
  now.as('created_at'),
  dispatchedAt(subscriptions(sql.lit(type)).whereRef('w.workspace_id', '=', sql.ref('done.workspace_id'))).as(
    'dispatched_at',
  ),
];

/** Wakes the relay if the row of `event` is left to it. */
export const EVENT_NOTIFICATION =
  sql`(select ${notify(CHANNELS.eventWritten, '')} from event where ${isUndispatched})`.as('event_told');
