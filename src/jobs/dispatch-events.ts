import { sql } from 'kysely';
import { anyOfNext, claim, dueInTurn, mayHaveMore } from '../db/claim.ts';
import type { Database } from '../db/database.ts';
import { now } from '../db/sql.ts';
import { prepared } from '../db/statement.ts';
import { UUID_V7 } from '../db/uuid-v7.ts';
import { deliveryStates } from '../domain/webhooks/delivery-states.ts';
import { isSubscribed } from '../services/events/is-subscribed.ts';

/**
 * Creates the deliveries of undispatched events: one for each enabled webhook that subscribes to the event. Skips events that
 * another relay has locked. The same statement marks the event, so that it is dispatched once.
 */
const DISPATCH = prepared()((db) =>
  dueInTurn(db, 'events', { due: sql<boolean>`dispatched_at is null`, orderBy: [sql`id`] })
    .with('taken', (cte) =>
      cte
        .selectFrom('events')
        .select(['id', 'workspace_id', 'type'])
        .where((eb) => eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id'))))
        .where('dispatched_at', 'is', null)
        .$call(claim()),
    )
    .with('done', (cte) =>
      cte.updateTable('events as e').from('taken').set({ dispatched_at: now }).whereRef('e.id', '=', 'taken.id'),
    )
    .with('made', (cte) =>
      cte
        .insertInto('deliveries')
        .columns(['workspace_id', 'id', 'event_id', 'webhook_id', 'trigger', 'status', 'created_at'])
        .expression((eb) =>
          eb
            .selectFrom('taken as e')
            .innerJoin('webhooks as w', 'w.workspace_id', 'e.workspace_id')
            .select(['e.workspace_id', sql.raw<string>(UUID_V7).as('id'), 'e.id as event_id', 'w.id as webhook_id'])
            .select([
              sql.lit('event').as('trigger'),
              sql.lit(deliveryStates.initial).as('status'),
              now.as('created_at'),
            ])
            .where(isSubscribed(sql.ref('e.type'))),
        )
        .onConflict((conflict) => conflict.doNothing())
        .returning('id'),
    )
    .selectNoFrom((eb) => [
      eb.selectFrom('next').select(eb.fn.countAll<number>().as('count')).$asScalar().$notNull().as('found'),
      eb.selectFrom('taken').select(eb.fn.countAll<number>().as('count')).$asScalar().$notNull().as('taken'),
      eb.exists(eb.selectFrom('made').select('made.id')).$castTo<boolean>().as('madeAny'),
    ]),
);

/** Creates the deliveries of new events. @returns whether there may be more events, and whether it created any delivery */
export async function dispatchEvents({ db }: { db: Database }): Promise<{ more: boolean; madeAny: boolean }> {
  const [row] = await db.system.query(DISPATCH, {});
  return { more: mayHaveMore(row?.found ?? 0, row?.taken ?? 0), madeAny: row?.madeAny ?? false };
}
