import { type ExpressionBuilder, sql } from 'kysely';
import { claim } from '../db/claim.ts';
import type { Query, SystemDatabase } from '../db/database.ts';
import { pause } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import type { Tables } from '../db/tables.ts';
import { idsOfSpan } from '../domain/ids.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';

/** The number of events per transaction. */
const BATCH_SIZE = 2_000;

/** Whether the event has a delivery that has not ended, or whose workflow has not been notified of its end. */
const isInDelivery = (eb: ExpressionBuilder<Tables, 'events'>) =>
  eb.exists(
    eb
      .selectFrom('deliveries as d')
      .select('d.id')
      .whereRef('d.event_id', '=', 'events.id')
      .where((delivery) =>
        delivery.or([inStates(deliveryStates, UNFINISHED_DELIVERY, 'd'), delivery('d.to_end', '=', true)]),
      ),
  );

/** @returns the last event examined; undefined if there are no more */
async function deleteSomeEvents(query: Query, after: string, before: string, ageMs: number) {
  const found = await query((db) =>
    db
      .selectFrom('events')
      .select('id')
      .where('id', '>', after)
      .where('id', '<', before)
      .where('created_at', '<', ago(ageMs))
      .where('dispatched_at', 'is not', null)
      .where((eb) => eb.not(isInDelivery(eb)))
      .orderBy('id')
      .$call(claim(BATCH_SIZE)),
  );
  const ids = found.map(({ id }) => id);
  if (ids.length === 0) return undefined;
  // Checked again, now that no request can create another delivery of a locked event.
  await query((db) =>
    db
      .with('gone', (cte) =>
        cte
          .deleteFrom('events')
          .where(sql<boolean>`id = any(${ids}::uuid[])`)
          .where((eb) => eb.not(isInDelivery(eb)))
          .returning('id'),
      )
      .deleteFrom('deliveries')
      .where('event_id', 'in', (eb) => eb.selectFrom('gone').select('id')),
  );
  return found.length < BATCH_SIZE ? undefined : ids.at(-1);
}

/** Deletes events older than `retentionMs`, with their deliveries. Events that are still to be dispatched or delivered are kept. */
export async function expireEvents(db: SystemDatabase, retentionMs: number, signal: AbortSignal): Promise<void> {
  const { from, to: before } = idsOfSpan(undefined, new Date(Date.now() - retentionMs));
  let after: string | undefined = from;
  while (after !== undefined && !signal.aborted) {
    const from: string = after;
    after = await db.transaction((query) => deleteSomeEvents(query, from, before, retentionMs));
    await pause(signal);
  }
}
