import { type Expression, sql } from 'kysely';
import type { Query } from '../../../db/database.ts';
import { CHANNELS } from '../../../db/listener.ts';
import { notify, now } from '../../../db/sql.ts';
import { changeState, inStates } from '../../../db/state-change.ts';
import { prepared } from '../../../db/statement.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../../domain/webhooks/delivery-states.ts';

import { notifyTester } from './delivery-waiter.ts';

const abandoned = changeState(deliveryStates, { to: 'abandoned' }, 'd');

const ending = (reason: string | Expression<string>) => ({
  ...abandoned.set,
  status_reason: sql<string>`${reason}`,
  finished_at: now,
  next_attempt_at: null,
});

/**
 * Ends every unfinished delivery of a webhook that was disabled or deleted. Runs in the same transaction, after the webhook's row
 * is locked. The relay signals the workflows afterwards.
 * @param query bound to the webhook's workspace
 * @param reason shown with each delivery
 */
export async function abandonDeliveries(query: Query, webhookId: string, reason: string): Promise<void> {
  await query((db) =>
    db
      .with('unfinished', (cte) =>
        cte
          .selectFrom('deliveries')
          .select('id')
          .where('webhook_id', '=', webhookId)
          .where(inStates(deliveryStates, UNFINISHED_DELIVERY))
          .orderBy('id')
          .forNoKeyUpdate(),
      )
      .with('ended', (cte) =>
        cte
          .updateTable('deliveries as d')
          .from('unfinished')
          .set((eb) => ({
            ...ending(reason),
            to_end: eb('d.claimed_at', 'is not', null).$castTo<boolean>(),
          }))
          .whereRef('d.id', '=', 'unfinished.id')
          .where(abandoned.where)
          .returning(notifyTester),
      )
      .selectNoFrom(notify(CHANNELS.deliveryChanged, '').as('notified')),
  );
}

const ABANDON_ONE = prepared<{ id: string; reason: string }>()((db, { id, reason }) =>
  db
    .updateTable('deliveries as d')
    .set({ ...ending(reason), to_end: false })
    .where('d.id', '=', id)
    .where(abandoned.where)
    .returning(notifyTester),
);

/** Ends a delivery without sending it again; an ended one is left unchanged. The caller handles its workflow, if any. */
export async function abandonOne(query: Query, id: string, reason: string): Promise<void> {
  await query(ABANDON_ONE, { id, reason });
}
