import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { anyOf, now } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import { publicId } from '../domain/ids.ts';
import { deliveryStates } from '../domain/webhooks/delivery-states.ts';
import type { AttemptMaker, AttemptOutcome, EnterAttempt } from '../services/webhooks/deliveries/make-attempt.ts';
import {
  type DeliveryStarter,
  type FirstWait,
  type StoredDelivery,
  startDelivery,
} from '../services/webhooks/deliveries/start-delivery.ts';
import type { Slots } from '../temporal/slots.ts';
import { isTemporalUnavailable } from '../temporal/workflows.ts';
import { runEvery } from './run-every.ts';

/** Deliveries without a recorded first attempt and without a workflow. */
export const UNSTARTED = sql<boolean>`${inStates(deliveryStates, ['queued'])} and started_at is null`;

/** The maximum number of first attempts in progress of one workspace; further ones wait in the database. */
const WORKSPACE_LIMIT = 100;
/** The maximum number for all workspaces. */
const LIMIT = 400;
/** A workspace at its limit gets more when it is this far below it: the relay claims that many at once. */
const CLAIMED_AT_ONCE = 10;
/** How long an attempt waits for a slot. */
const PLACE_TIMEOUT_MS = 2_000;
/** How often a process renews its claims: those of a dead process are taken over after `CLAIM_LEASE` of the relay. */
const RENEW_MS = 3_000;
/** The maximum number of workflows being started. More can only mean that Temporal is down: the reconciliation starts the others. */
const MAX_STARTS = 200;

/**
 * Makes first attempts without a workflow: most deliveries need nothing more. The claim of the row is a lease, renewed until the attempt
 * is recorded: if the process dies, another makes the attempt again. A delivery that failed or was deferred gets its workflow.
 */
export interface FirstAttempts {
  /** Makes the first attempt of a delivery that this process has claimed. */
  begin(delivery: StoredDelivery): void;
  /** Whether no more can be started at present. */
  isFull(): boolean;
  /** UUIDs of workspaces for which no more can be started at present. */
  saturated(): string[];
  /** Waits until those in progress have ended. Those waiting for a slot are left to other processes. */
  stop(): Promise<void>;
}

export interface FirstAttemptDeps {
  db: Database;
  attempts: AttemptMaker;
  slots: Slots;
  starter: DeliveryStarter;
  log: Logger;
}

/** @param onRoom called when more can be started after a limit was reached */
export function createFirstAttempts(
  { db, attempts, slots, starter, log }: FirstAttemptDeps,
  onRoom: () => void,
): FirstAttempts {
  const stopping = new AbortController();
  /** By id, until nothing is left to do here. */
  const unfinished = new Map<string, Promise<void>>();
  /** Attempts in progress by workspace. */
  const inProgress = new Map<string, number>();
  let total = 0;
  let starts = 0;
  /** Whether the relay knows that a workspace, or the process, is at its limit. */
  let isAwaited = false;

  /** The more are in progress in total, the lower the limit of a workspace, so that there is room for workspaces without any. */
  const limit = () => Math.min(WORKSPACE_LIMIT, LIMIT - total);

  function count(workspaceId: string, change: 1 | -1): void {
    const own = (inProgress.get(workspaceId) ?? 0) + change;
    if (own === 0) inProgress.delete(workspaceId);
    else inProgress.set(workspaceId, own);
    total += change;
    if (!isAwaited || change > 0 || own > Math.max(0, limit() - CLAIMED_AT_ONCE)) return;
    isAwaited = false;
    onRoom();
  }

  const enter: EnterAttempt = async ({ workspace_id: workspaceId, url }) => {
    const endOfWait = () => AbortSignal.any([stopping.signal, AbortSignal.timeout(PLACE_TIMEOUT_MS)]);
    const release = await slots.waitForAttempt(publicId('workspace', workspaceId), new URL(url).host, endOfWait);
    return release === undefined ? { comeBackInMs: 0 } : { release };
  };

  const retryInMsOf = ({ trigger }: StoredDelivery) => (trigger === 'test' ? null : (starter.retryWaitsMs[0] ?? null));

  async function make(delivery: StoredDelivery): Promise<AttemptOutcome> {
    count(delivery.workspaceId, 1);
    try {
      return await attempts.make({ deliveryId: delivery.id, attempt: 1, retryInMs: retryInMsOf(delivery) }, enter);
    } finally {
      count(delivery.workspaceId, -1);
    }
  }

  async function start(delivery: StoredDelivery, firstWait?: FirstWait): Promise<void> {
    if (starts >= MAX_STARTS) return;
    starts += 1;
    await startDelivery(db.system.query, starter, delivery, firstWait).finally(() => {
      starts -= 1;
    });
  }

  async function makeAndStart(delivery: StoredDelivery): Promise<void> {
    const outcome = await make(delivery);
    const retryInMs = retryInMsOf(delivery);
    if (outcome.state === 'failed' && retryInMs !== null) {
      const { reason, waitMs = retryInMs } = outcome;
      await start({ ...delivery, attemptsMade: 1 }, { waitMs, reason });
    }
    if (outcome.state !== 'held back') return;
    const { forMs: waitMs, reason } = outcome;
    if (waitMs > 0) await start(delivery, { waitMs, reason });
    else if (stopping.signal.aborted) await unclaim(db, delivery.id);
    // Its attempt is queued for a slot immediately.
    else await start(delivery);
  }

  const renewing = runEvery('renew claims', RENEW_MS, log, () => renew(db, [...unfinished.keys()]));

  return {
    begin(delivery) {
      const { id } = delivery;
      // Claimed again after an outage of the database, while its result still waits to be stored.
      if (unfinished.has(id)) return;
      const ended = makeAndStart(delivery)
        // Another process finds the row: when the lease has expired, or through the reconciliation.
        .catch((error: unknown) =>
          // While Temporal is down, the reconciliation logs it.
          log[isTemporalUnavailable(error) ? 'debug' : 'warn'](
            { err: error, delivery_id: id },
            'cannot make a first attempt or start its workflow',
          ),
        )
        .finally(() => unfinished.delete(id));
      unfinished.set(id, ended);
    },
    isFull() {
      const full = total >= LIMIT;
      isAwaited ||= full;
      return full;
    },
    saturated() {
      const ids = [...inProgress].flatMap(([id, own]) => (own >= limit() ? [id] : []));
      isAwaited ||= ids.length > 0;
      return ids;
    },
    async stop() {
      stopping.abort();
      await Promise.all(unfinished.values());
      await renewing.stop();
    },
  };
}

/** Renews the claims of attempts that are not recorded yet. */
async function renew({ system }: Database, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await system.query((db) =>
    db
      .updateTable('deliveries')
      .set({ claimed_at: now })
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('deliveries')
          .select('id')
          .where('id', '=', anyOf(ids))
          .where(UNSTARTED)
          // A locked one is being recorded or abandoned.
          .forNoKeyUpdate()
          .skipLocked(),
      ),
  );
}

async function unclaim({ system }: Database, id: string): Promise<void> {
  await system.query((db) =>
    db.updateTable('deliveries').set({ claimed_at: null }).where('id', '=', id).where(UNSTARTED),
  );
}
