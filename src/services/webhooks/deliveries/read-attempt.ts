import { type Expression, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { prepared, type RowOf } from '../../../db/statement.ts';
import type { EventData } from '../../../domain/webhooks/events.ts';

/** Milliseconds until a time; negative after it. */
export const msUntil = (time: Expression<Date | null>) =>
  sql<number | null>`extract(epoch from ${time} - now())::float8 * 1000`;

/** The maximum size of an event's data that is read together with the delivery. */
const MAX_SHORT_BYTES = 8 * 1024;

const READ = prepared<{ id: string; attempt: number }>()((db, { id, attempt }) =>
  db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .leftJoin('delivery_attempts as a', (join) =>
      join.onRef('a.delivery_id', '=', 'd.id').on('a.attempt', '=', attempt),
    )
    .select(['d.status', 'd.trigger', 'd.workspace_id', 'd.event_id', 'd.webhook_id'])
    .select(['e.type', 'e.created_at', 'e.traceparent'])
    // Most are short. Longer ones are read when there is enough memory.
    .select((eb) => sql<number>`octet_length(${eb.ref('e.data')}::text)`.as('data_bytes'))
    .select((eb) =>
      sql<EventData | null>`case when octet_length(${eb.ref('e.data')}::text) <= ${sql.lit(MAX_SHORT_BYTES)}
        then ${eb.ref('e.data')} end`.as('data'),
    )
    .select(['w.status as webhook_status', 'w.url', 'w.secret', 'w.previous_secret', 'w.previous_secret_expires_at'])
    .select(['w.headers', 'w.rate_limit_per_minute'])
    // Why this attempt failed if it was already made by a worker that could not report it.
    .select('a.error as recorded_error')
    .select((eb) => [
      msUntil(eb.ref('d.slot_at')).as('slot_in_ms'),
      msUntil(eb.ref('d.next_attempt_at')).as('next_in_ms'),
    ])
    .where('d.id', '=', id),
);

/** What an attempt needs to know. The columns of the webhook are null if it was deleted. */
export type AttemptRow = RowOf<typeof READ>;

/** An attempt whose webhook is enabled. */
export type SendableRow = AttemptRow & {
  [Column in 'webhook_status' | 'url' | 'secret']: NonNullable<AttemptRow[Column]>;
};

export const isSendable = (row: AttemptRow): row is SendableRow => row.webhook_status === 'enabled';

/** The time between two slots of the webhook. */
const interval = sql<Date>`interval '1 minute' / rate_limit_per_minute`;

/** Assigns the slots of a webhook with a rate limit one after another, at its rate. */
const TAKE_SLOT = prepared<{ id: string; webhookId: string }>()((db, { id, webhookId }) =>
  db
    .with('slot', (cte) =>
      cte
        .updateTable('webhooks')
        .set({ next_slot_at: sql<Date>`greatest(next_slot_at, now()) + ${interval}` })
        .where('id', '=', webhookId)
        .returning(sql<Date>`next_slot_at - ${interval}`.as('at')),
    )
    .with('given', (cte) =>
      cte
        .updateTable('deliveries')
        .from('slot')
        .set((eb) => ({
          slot_at: eb.ref('slot.at'),
          next_attempt_at: sql<Date>`greatest(slot.at, next_attempt_at)`,
          check_at: sql<Date>`greatest(slot.at, next_attempt_at) + interval '1 minute'`,
        }))
        .where('id', '=', id),
    )
    .selectFrom('slot')
    .select((eb) => msUntil(eb.ref('slot.at')).as('in_ms')),
);

/** @returns undefined if there is no such delivery, or no longer */
export async function readAttempt(query: Query, id: string, attempt: number): Promise<AttemptRow | undefined> {
  const [row] = await query(READ, { id, attempt });
  return row;
}

const READ_DATA = prepared<{ eventId: string }>()((db, { eventId }) =>
  db.selectFrom('events').select('data').where('id', '=', eventId),
);

/** The data of an event. @returns undefined if the event is gone */
export async function readEventData(query: Query, eventId: string): Promise<EventData | undefined> {
  const [row] = await query(READ_DATA, { eventId });
  return row?.data;
}

/**
 * Assigns the next slot of its webhook to a delivery.
 * @returns milliseconds until the slot
 */
export async function takeSlot(query: Query, id: string, webhookId: string): Promise<number> {
  const [row] = await query(TAKE_SLOT, { id, webhookId });
  return row?.in_ms ?? 0;
}
