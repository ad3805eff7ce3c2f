import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { now } from '../db/sql.ts';

import { inStates } from '../db/state-change.ts';
import { type Builder, prepared } from '../db/statement.ts';
import { deliveryStates } from '../domain/delivery-states.ts';
import { parsePublicId } from '../domain/ids.ts';
import {
  type DeliveryStarter,
  STORED_DELIVERY,
  type StoredDelivery,
  startDelivery,
} from '../services/deliveries/start-delivery.ts';
import { deliveryWorkflowId } from '../temporal/names.ts';
import { isTemporalAway, signalWorkflow } from '../temporal/workflows.ts';
import { BATCH_SIZE, dueRoundRobin, mayHaveMore } from './round-robin-rows.ts';

/** Workflows that are being started at a time. */
const STARTS_AT_ONCE = 20;

/**
 * Deliveries without their workflow: new ones, and those left by a relay that died or could not reach Temporal. If that one is
 * only slow, a second relay starts the same workflows, which changes nothing.
 */
const UNSTARTED = sql<boolean>`${inStates(deliveryStates, ['queued'])} and started_at is null
  and (claimed_at is null or claimed_at < now() - interval '10 seconds')`;

/** A replay may be long: the other deliveries of its workspace go first. */
const REPLAYS_LAST = [sql`(trigger = 'replay')`, sql`id`];

const CLAIM = prepared<{ saturated: string[] }>()((db, { saturated }) =>
  dueRoundRobin(db, 'deliveries', { due: UNSTARTED, orderBy: REPLAYS_LAST, exceptWorkspaces: saturated })
    .with('free', (cte) =>
      cte
        .selectFrom('deliveries')
        .select('id')
        .where('id', 'in', (eb) => eb.selectFrom('next').select('next.id'))
        .where(UNSTARTED)
        .forUpdate()
        .skipLocked(),
    )
    .with('claimed', (cte) =>
      cte
        .updateTable('deliveries as d')
        .from('free')
        .set({ claimed_at: now })
        .whereRef('d.id', '=', 'free.id')
        .returning(['d.id', 'd.workspace_id', 'd.event_id', 'd.webhook_id', 'd.trigger', 'd.attempts_made']),
    )
    .selectFrom('claimed as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .innerJoin('next', 'next.id', 'd.id')
    .select(STORED_DELIVERY)
    .select((eb) =>
      eb.selectFrom('next').select(eb.fn.countAll<number>().as('count')).$asScalar().$notNull().as('found'),
    )
    .orderBy('next.rank')
    .orderBy('d.id'),
);

/** Locks deliveries in the order of their ids, as `abandonDeliveries` does, so that the two cannot deadlock. */
const lockInOrder = (db: Builder, ids: string[]) =>
  db.with('locked', (cte) =>
    cte
      .selectFrom('deliveries')
      .select('id')
      .where('id', '=', sql<string>`any(${ids}::uuid[])`)
      .orderBy('id')
      .forNoKeyUpdate(),
  );

export interface RelayDeps {
  db: Database;
  starter: DeliveryStarter;
  log: Logger;
  /** Workspaces (public ids) that have enough deliveries in flight: the rest wait in the database. Default: none. */
  saturated?: () => string[];
}

/** Runs `work` on each item, so many at a time. The first failure ends it: the rest is left. */
async function forEachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<unknown>): Promise<void> {
  const left = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of left) {
      if (failed) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  for (const each of workers) if (each.status === 'rejected') throw each.reason;
}

/** One that was abandoned while it was started is left to `endWorkflows`. */
async function markStarted({ system }: Database, ids: string[]): Promise<void> {
  await system.query((db) =>
    lockInOrder(db, ids)
      .updateTable('deliveries as d')
      .from('locked')
      .set({
        started_at: sql<Date>`coalesce(started_at, now())`,
        to_end: sql<boolean>`${inStates(deliveryStates, ['abandoned'], 'd')}`,
      })
      .whereRef('d.id', '=', 'locked.id'),
  );
}

async function unclaim({ system }: Database, ids: string[]): Promise<void> {
  await system.query((db) =>
    lockInOrder(db, ids)
      .updateTable('deliveries as d')
      .from('locked')
      .set({ claimed_at: null })
      .whereRef('d.id', '=', 'locked.id'),
  );
}

/** Starts workflows. If Temporal is unavailable, the claims of the remaining deliveries are released. */
async function startAll({ db, starter, log }: RelayDeps, deliveries: readonly StoredDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const left = new Set(deliveries.map(({ id }) => id));
  const started: string[] = [];
  try {
    await forEachOf(deliveries, STARTS_AT_ONCE, async (delivery) => {
      try {
        await startDelivery(db.system.query, starter, delivery);
        started.push(delivery.id);
      } catch (error) {
        if (isTemporalAway(error)) throw error;
        // One that Temporal refuses must not keep the others from being started; it stays claimed for a while.
        log.error({ err: error, delivery_id: delivery.id }, 'cannot start a delivery');
      }
      left.delete(delivery.id);
    });
  } finally {
    if (started.length > 0) await markStarted(db, started);
    if (left.size > 0) await unclaim(db, [...left]);
  }
}

/** @returns whether there may be more */
export async function startUnstarted(deps: RelayDeps): Promise<boolean> {
  const saturated = (deps.saturated?.() ?? []).flatMap((id) => parsePublicId('workspace', id) ?? []);
  const claimed = await deps.db.system.query(CLAIM, { saturated });
  await startAll(deps, claimed);
  return mayHaveMore(claimed[0]?.found ?? 0, claimed.length);
}

/**
 * Signals workflows whose deliveries were abandoned in the database. Each is signaled by one relay; if that one dies first, the
 * workflow learns it at its next attempt.
 * @returns whether there may be more
 */
export async function endWorkflows({ db: { system }, starter }: RelayDeps): Promise<boolean> {
  const ended = await system.query((db) =>
    db
      .updateTable('deliveries')
      .set({ to_end: false })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('deliveries')
          .select('id')
          .where('to_end', '=', sql.lit(true))
          .orderBy('id')
          .limit(BATCH_SIZE)
          .forUpdate()
          .skipLocked(),
      )
      .returning(['id', 'event_id as eventId', 'webhook_id as webhookId', 'trigger']),
  );
  const unsignaled = new Set(ended.map(({ id }) => id));
  try {
    await forEachOf(ended, STARTS_AT_ONCE, async (delivery) => {
      await signalWorkflow(starter.client, deliveryWorkflowId(delivery), 'deliveryEnded');
      unsignaled.delete(delivery.id);
    });
  } finally {
    if (unsignaled.size > 0)
      await system.query((db) =>
        lockInOrder(db, [...unsignaled])
          .updateTable('deliveries as d')
          .from('locked')
          .set({ to_end: true })
          .whereRef('d.id', '=', 'locked.id'),
      );
  }
  return ended.length === BATCH_SIZE;
}
