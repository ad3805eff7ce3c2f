import { setTimeout as delay } from 'node:timers/promises';
import { type ExpressionBuilder, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { milliseconds, now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { notFound } from '../../domain/errors.ts';
import { LEASE_MINUTES } from '../../domain/queues/queue.ts';
import type { HolderId } from '../members/holder.ts';
import { getItem, type ItemRow } from './items.ts';
import { findQueue, type QueueColumns } from './queues.ts';

const leaseEnd = sql<Date>`now() + ${milliseconds(LEASE_MINUTES * 60_000)}`;

/** The number of other reviewers who currently hold the item `i`. */
export const leasesOfOthers = (eb: ExpressionBuilder<Tables & { i: Tables['queue_items'] }, 'i'>, reviewer: HolderId) =>
  eb
    .selectFrom('queue_reviews as lease')
    .select((of) => of.fn.countAll<number>().as('count'))
    .whereRef('lease.item_id', '=', 'i.id')
    .where('lease.reviewer', '<>', reviewer)
    .where('lease.outcome', 'is', null)
    .where('lease.leased_until', '>', now);

/**
 * Leases an item to the reviewer that they have not handled and that still needs a reviewer. A reviewer who already holds an item
 * of the queue gets it again, with a renewed lease. Skipped items come last.
 *
 * Requests of a queue run one after the other by locking its row, so each sees the leases of those before it. Completing an item
 * locks only that item, so its own columns are checked again once it is locked.
 * @returns null: nothing is left for this reviewer now
 * @throws ApiError `not_found`
 */
export async function leaseNext(db: WorkspaceDatabase, name: string, reviewer: HolderId): Promise<ItemRow | null> {
  return db.transaction(async (query) => {
    const queue = await lockQueue(query, name);
    const id = await findItem(query, queue, reviewer);
    if (id === undefined) return null;
    await query((own) =>
      own
        .insertInto('queue_reviews')
        .values({ item_id: id, queue_id: queue.id, reviewer, leased_until: leaseEnd, outcome: null })
        .onConflict((conflict) => conflict.columns(['item_id', 'reviewer']).doUpdateSet({ leased_until: leaseEnd })),
    );
    return getItem(query, queue, id, reviewer);
  });
}

async function lockQueue(query: Query, name: string): Promise<QueueColumns> {
  const [locked] = await query((db) => db.selectFrom('queues').select('id').where('name', '=', name).forNoKeyUpdate());
  if (locked === undefined) throw notFound(`The queue "${name}"`);
  return findQueue(query, name);
}

/** A request that completes or returns an item locks its row for only a few statements. */
const MAX_ATTEMPTS = 100;
const POLL_AGAIN_MS = 10;

async function findItem(query: Query, queue: QueueColumns, reviewer: HolderId): Promise<string | undefined> {
  for (let look = 1; ; look++) {
    const id =
      (await heldItem(query, queue, reviewer)) ??
      (await openItem(query, queue, reviewer, 'new')) ??
      (await openItem(query, queue, reviewer, 'skipped'));
    if (id !== undefined || look === MAX_ATTEMPTS) return id;
    // An item that was being completed was passed over, and may still need another reviewer.
    if ((await openItem(query, queue, reviewer, 'all')) === undefined) return undefined;
    await delay(POLL_AGAIN_MS);
  }
}

async function heldItem(query: Query, { id }: QueueColumns, reviewer: HolderId): Promise<string | undefined> {
  const [held] = await query((db) =>
    db
      .selectFrom('queue_reviews as r')
      .innerJoin('queue_items as i', 'i.id', 'r.item_id')
      .select('r.item_id')
      .where('r.queue_id', '=', id)
      .where('r.reviewer', '=', reviewer)
      .where('r.outcome', 'is', null)
      .where('r.leased_until', '>', now)
      .where('i.completed_at', 'is', null)
      .orderBy('r.item_id')
      .limit(1)
      .forUpdate('i')
      .skipLocked(),
  );
  return held?.item_id;
}

/** Locks the item and skips items that others have locked, except with `all`. */
async function openItem(
  query: Query,
  { id, reviewers_per_item: wanted }: QueueColumns,
  reviewer: HolderId,
  among: 'new' | 'skipped' | 'all',
): Promise<string | undefined> {
  const isDone = (db: Builder) =>
    db
      .selectFrom('queue_reviews as mine')
      .select('mine.item_id')
      .whereRef('mine.item_id', '=', sql.ref('i.id'))
      .where('mine.reviewer', '=', reviewer)
      .where('mine.outcome', 'is not', null);
  const [free] = await query((db) =>
    db
      .selectFrom('queue_items as i')
      .select('i.id')
      .where('i.queue_id', '=', id)
      .where('i.completed_at', 'is', null)
      .where((eb) => eb.not(eb.exists(isDone(db))))
      .where((eb) => eb(eb('i.completed', '+', leasesOfOthers(eb, reviewer)), '<', wanted))
      .$if(among !== 'all', (items) =>
        items
          .where('i.skipped', among === 'skipped' ? '>' : '=', 0)
          .forUpdate('i')
          .skipLocked(),
      )
      .orderBy('i.id')
      .limit(1),
  );
  return free?.id;
}
