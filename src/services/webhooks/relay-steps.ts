import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { UUID_V7 } from '../../db/uuid-v7.ts';
import { deliveryStates } from '../../domain/delivery-states.ts';
import { type DeliveryIdentity, deliveryWorkflowId } from '../../temporal/names.ts';
import { isTemporalAway, signalWorkflow } from '../../temporal/workflows.ts';
import { type DeliveryStarter, STORED_DELIVERY, type StoredDelivery, startDelivery } from './start-delivery.ts';

/** What a relay that is killed leaves behind is at most this much. */
const BATCH_SIZE = 100;
/** Workflows that are being started at a time. */
const STARTS_AT_ONCE = 20;

/**
 * Makes the deliveries of events that have none yet: one for each webhook that is enabled and wants the event. What another
 * relay works on is left to it, and an event is done in the same statement, so that it is delivered once.
 */
const DISPATCH = {
  name: 'dispatch-events',
  text: `with taken as (
           select id, workspace_id, type from events where dispatched_at is null
           order by id limit ${BATCH_SIZE} for update skip locked
         ), done as (
           update events e set dispatched_at = now() from taken where e.id = taken.id
         ), made as (
           insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at, claimed_at)
           select e.workspace_id, ${UUID_V7}, e.id, w.id, 'event', '${deliveryStates.initial}', now(), now()
           from taken e join webhooks w on w.workspace_id = e.workspace_id and w.status = 'enabled' and e.type = any(w.events)
           on conflict do nothing returning *
         ) select (select count(*) from taken)::int as taken, ${STORED_DELIVERY}
           from (select 1) as always left join made d on true left join taken e on e.id = d.event_id
             left join webhooks w on w.id = d.webhook_id`,
};

/**
 * Deliveries without their workflow: asked for by a caller, or left by a relay that died or could not reach Temporal. Where one
 * is only slow, a second relay starts the same workflows, which changes nothing. A replay may be long: all else goes first.
 */
const CLAIM = {
  name: 'claim-deliveries',
  text: `with claimed as (
           update deliveries set claimed_at = now() where id in (
             select id from deliveries where ${deliveryStates.in(['queued'])} and started_at is null
               and (claimed_at is null or claimed_at < now() - interval '10 seconds')
             order by trigger = 'replay', id limit ${BATCH_SIZE} for update skip locked)
           returning *
         ) select ${STORED_DELIVERY} from claimed d join events e on e.id = d.event_id left join webhooks w on w.id = d.webhook_id`,
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

/** @returns whether there may be more */
export async function dispatchEvents(deps: RelayDeps): Promise<boolean> {
  const rows = await deps.db.system.query<{ taken: number } & (StoredDelivery | { id: null })>(DISPATCH);
  await startAll(
    deps,
    rows.filter((row): row is { taken: number } & StoredDelivery => row.id !== null),
  );
  return (rows[0]?.taken ?? 0) === BATCH_SIZE;
}

/** @returns whether there may be more */
export async function startUnstarted(deps: RelayDeps): Promise<boolean> {
  const claimed = await deps.db.system.query<StoredDelivery>(CLAIM);
  await startAll(deps, claimed);
  return claimed.length === BATCH_SIZE;
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
