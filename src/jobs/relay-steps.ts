import { type Expression, sql } from 'kysely';
import type { Logger } from 'pino';
import { anyOfNext, claim, dueInTurn, IN_TURN, mayHaveMore } from '../db/claim.ts';
import type { Database } from '../db/database.ts';
import { anyOf, now } from '../db/sql.ts';
import { type Builder, prepared } from '../db/statement.ts';
import { parsePublicId } from '../domain/ids.ts';
import { type DeliveryStarter, STORED_DELIVERY } from '../services/webhooks/deliveries/start-delivery.ts';
import { deliveryWorkflowId } from '../temporal/names.ts';
import { signalWorkflow } from '../temporal/workflows.ts';
import { type FirstAttempts, UNSTARTED } from './first-attempts.ts';

/** The number of workflows signaled at a time. */
const SIGNALS_AT_ONCE = 20;
/** Deliveries whose first attempt is to be made: new ones, and those claimed by a process that has not renewed its claim. */
const CLAIM_LEASE = sql`interval '10 seconds'`;
const toAttempt = (reclaim: Expression<boolean>) =>
  sql<boolean>`${UNSTARTED} and (claimed_at is null or (${reclaim}::boolean and claimed_at < now() - ${CLAIM_LEASE}))`;

/** A replay may be long: the other deliveries of its workspace go first. */
const REPLAYS_LAST = [sql`(trigger = 'replay')`, sql`id`];

const CLAIM = prepared<{ saturated: string[]; reclaim: boolean }>()((db, { saturated, reclaim }) =>
  dueInTurn(db, 'deliveries', { due: toAttempt(reclaim), orderBy: REPLAYS_LAST, exceptWorkspaces: saturated })
    .with('free', (cte) =>
      cte
        .selectFrom('deliveries')
        .select('id')
        .where((eb) => eb('id', '=', anyOfNext(eb.selectFrom('next').select('next.id'))))
        .where(toAttempt(reclaim))
        .$call(claim()),
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

/** Locks deliveries in the order of their ids, like `abandonDeliveries`, so that the two cannot deadlock. */
const lockInOrder = (db: Builder, ids: string[]) =>
  db.with('locked', (cte) =>
    cte.selectFrom('deliveries').select('id').where('id', '=', anyOf(ids)).orderBy('id').forNoKeyUpdate(),
  );

export interface RelayDeps {
  db: Database;
  starter: DeliveryStarter;
  log: Logger;
  firstAttempts: FirstAttempts;
  /** Workspaces (public ids) with enough deliveries in flight: further ones wait in the database. Default: none. */
  saturated?: () => string[];
}

/** Runs `work` on each item, with limited concurrency. The first failure ends it, and the remaining items are skipped. */
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

/**
 * Claims deliveries whose first attempt is to be made, and starts their attempts.
 * @param reclaim whether to take over expired claims
 * @returns whether there may be more
 */
export async function beginFirstAttempts(
  { db, firstAttempts, saturated }: RelayDeps,
  reclaim: boolean,
): Promise<boolean> {
  if (firstAttempts.isFull()) return false;
  const waiting = (saturated?.() ?? []).flatMap((id) => parsePublicId('workspace', id) ?? []);
  const claimed = await db.system.query(CLAIM, {
    saturated: [...waiting, ...firstAttempts.saturated()],
    reclaim,
  });
  for (const delivery of claimed) firstAttempts.begin(delivery);
  return mayHaveMore(claimed[0]?.found ?? 0, claimed.length);
}

const ENDED = prepared()((db) =>
  db
    .updateTable('deliveries')
    .set({ to_end: false })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('deliveries')
        .select('id')
        .where('to_end', '=', sql.lit(true))
        .orderBy('id')
        .$call(claim(sql.lit(IN_TURN))),
    )
    .returning(['id', 'event_id as eventId', 'webhook_id as webhookId', 'trigger']),
);

/**
 * Signals workflows whose deliveries were abandoned in the database. Each is signaled by one relay; if that relay dies first, the
 * workflow notices at its next attempt.
 * @returns whether there may be more
 */
export async function endWorkflows({ db: { system }, starter }: RelayDeps): Promise<boolean> {
  const ended = await system.query(ENDED, {});
  const unsignaled = new Set(ended.map(({ id }) => id));
  try {
    await forEachOf(ended, SIGNALS_AT_ONCE, async (delivery) => {
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
  return ended.length === IN_TURN;
}
