import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { UUID_V7 } from '../db/uuid-v7.ts';
import { deliveryStates } from '../domain/delivery-states.ts';
import { parsePublicId } from '../domain/ids.ts';
import {
  type DeliveryStarter,
  STORED_DELIVERY,
  type StoredDelivery,
  startDelivery,
} from '../services/deliveries/start-delivery.ts';
import { type DeliveryIdentity, deliveryWorkflowId } from '../temporal/names.ts';
import { isTemporalAway, signalWorkflow } from '../temporal/workflows.ts';

/** What a relay that is killed leaves behind is at most this much. */
const BATCH_SIZE = 100;
/** Of one workspace: what another one has meanwhile waits for no more than this. */
const WORKSPACE_BATCH_SIZE = 10;
/** Workflows that are being started at a time. */
const STARTS_AT_ONCE = 20;

/**
 * Ids of rows in turns round the workspaces that have any, as `next (id, turn)`. It goes from workspace to workspace by the
 * index, so its cost grows with their number, not with the rows of one that has very many.
 * @param from the table with its condition
 * @param order within a workspace
 * @param among which workspaces, by `workspace.id`
 */
const inTurns = (from: string, order: string, among = 'true') => `
  workspace (id) as (
    (select workspace_id from ${from} order by workspace_id limit 1)
    union all
    select (select workspace_id from ${from} and workspace_id > workspace.id order by workspace_id limit 1)
    from workspace where workspace.id is not null
  ), next as (
    select row.id, row.turn from workspace cross join lateral (
      select id, row_number() over (order by ${order}) as turn
      from (select * from ${from} and workspace_id = workspace.id order by ${order} limit ${WORKSPACE_BATCH_SIZE}) as first
    ) as row
    where ${among}
    order by row.turn, random() limit ${BATCH_SIZE}
  )`;

/**
 * Makes the deliveries of events that have none yet: one for each webhook that is enabled and wants the event. What another
 * relay works on is left to it, and an event is done in the same statement, so that it is delivered once.
 */
const DISPATCH = {
  name: 'dispatch-events',
  text: `with recursive ${inTurns('events where dispatched_at is null', 'id')}, taken as (
           select id, workspace_id, type from events
           where id in (select id from next) and dispatched_at is null for update skip locked
         ), done as (
           update events e set dispatched_at = now() from taken where e.id = taken.id
         ), made as (
           insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
           select e.workspace_id, ${UUID_V7}, e.id, w.id, 'event', '${deliveryStates.initial}', now()
           from taken e join webhooks w on w.workspace_id = e.workspace_id and w.status = 'enabled' and e.type = any(w.events)
           on conflict do nothing returning id
         ) select (select count(*) from next)::int as found, (select count(*) from taken)::int as taken,
             exists (select from made) as "madeAny"`,
};

/**
 * Deliveries without their workflow: new ones, and those left by a relay that died or could not reach Temporal. Where one is
 * only slow, a second relay starts the same workflows, which changes nothing. A replay may be long: all else of its
 * workspace goes first.
 */
const UNSTARTED = `deliveries where ${deliveryStates.in(['queued'])} and started_at is null
  and (claimed_at is null or claimed_at < now() - interval '10 seconds')`;
const CLAIM = {
  name: 'claim-deliveries',
  text: `with recursive ${inTurns(UNSTARTED, "(trigger = 'replay'), id", 'workspace.id <> all ($1::uuid[])')}, taken as (
           select id from deliveries where id in (select id from next) and ${deliveryStates.in(['queued'])} and started_at is null
             and (claimed_at is null or claimed_at < now() - interval '10 seconds') for update skip locked
         ), claimed as (
           update deliveries d set claimed_at = now() from taken where d.id = taken.id returning d.*
         ) select (select count(*) from next)::int as found, ${STORED_DELIVERY}
           from claimed d join events e on e.id = d.event_id left join webhooks w on w.id = d.webhook_id
             join next on next.id = d.id
           order by next.turn, d.id`,
};

/** Rows are locked in the order of their ids, as whoever ends many deliveries of a webhook at once does. */
const STARTED = {
  name: 'started-deliveries',
  text: `with started as (select id from deliveries where id = any($1::uuid[]) order by id for no key update)
         update deliveries d set started_at = coalesce(started_at, now()), to_end = ${deliveryStates.in(['abandoned'], 'd')}
         from started where d.id = started.id`,
};
const UNCLAIM = {
  text: `with left_over as (select id from deliveries where id = any($1::uuid[]) order by id for no key update)
         update deliveries d set claimed_at = null from left_over where d.id = left_over.id`,
};

/** Deliveries that ended in the database alone: their workflows still wait. Each is told by one relay. */
const TO_END = {
  text: `update deliveries set to_end = false where id in (
           select id from deliveries where to_end order by id limit ${BATCH_SIZE} for update skip locked)
         returning id, event_id as "eventId", webhook_id as "webhookId", trigger`,
};
const NOT_TOLD = {
  text: `with untold as (select id from deliveries where id = any($1::uuid[]) order by id for no key update)
         update deliveries d set to_end = true from untold where d.id = untold.id`,
};

export interface RelayDeps {
  db: Database;
  starter: DeliveryStarter;
  log: Logger;
  /** Workspaces (public ids) that have enough started: the rest of their deliveries wait in the database. Default: none. */
  crowded?: () => string[];
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

/** Starts workflows. Where Temporal is away, those that are left are free again for whoever comes next. */
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
    if (started.length > 0) await db.system.query(STARTED, [started]);
    if (left.size > 0) await db.system.query(UNCLAIM, [[...left]]);
  }
}

/** Whether a look that found and took so many rows left some: a workspace may have more, or another relay was at them. */
const isMore = (found: number, taken: number) => found >= WORKSPACE_BATCH_SIZE || taken < found;

/** Makes the deliveries of new events. @returns whether there may be more of them, and whether it made any delivery */
export async function dispatchEvents({ db }: RelayDeps): Promise<{ more: boolean; madeAny: boolean }> {
  const [row] = await db.system.query<{ found: number; taken: number; madeAny: boolean }>(DISPATCH);
  return { more: isMore(row?.found ?? 0, row?.taken ?? 0), madeAny: row?.madeAny ?? false };
}

/** @returns whether there may be more */
export async function startUnstarted(deps: RelayDeps): Promise<boolean> {
  const crowded = (deps.crowded?.() ?? []).flatMap((id) => parsePublicId('workspace', id) ?? []);
  const claimed = await deps.db.system.query<StoredDelivery & { found: number }>(CLAIM, [crowded]);
  await startAll(deps, claimed);
  return isMore(claimed[0]?.found ?? 0, claimed.length);
}

/**
 * Tells workflows that their deliveries have ended. One that a relay that died was about to tell finds it out at its next
 * attempt.
 * @returns whether there may be more
 */
export async function endWorkflows({ db, starter }: RelayDeps): Promise<boolean> {
  const ended = await db.system.query<DeliveryIdentity>(TO_END);
  const untold = new Set(ended.map(({ id }) => id));
  try {
    await forEachOf(ended, STARTS_AT_ONCE, async (delivery) => {
      await signalWorkflow(starter.client, deliveryWorkflowId(delivery), 'deliveryEnded');
      untold.delete(delivery.id);
    });
  } finally {
    if (untold.size > 0) await db.system.query(NOT_TOLD, [[...untold]]);
  }
  return ended.length === BATCH_SIZE;
}
