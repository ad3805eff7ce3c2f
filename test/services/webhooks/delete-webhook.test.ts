import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { bindWorkspace, type Query } from '../../../src/db/database.ts';
import { createQuery } from '../../../src/db/query.ts';
import { newId } from '../../../src/domain/ids.ts';
import { dispatchEvents } from '../../../src/jobs/dispatch-events.ts';
import { createFirstAttempts } from '../../../src/jobs/first-attempts.ts';
import { reconcileDeliveries } from '../../../src/jobs/reconcile-deliveries.ts';
import { beginFirstAttempts } from '../../../src/jobs/relay-steps.ts';
import { createByteBudget } from '../../../src/lib/byte-budget.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { deleteWebhook } from '../../../src/services/webhooks/change-webhook.ts';
import { redeliver } from '../../../src/services/webhooks/deliveries/deliveries.ts';
import { createAttemptMaker } from '../../../src/services/webhooks/deliveries/make-attempt.ts';
import { replayEvents } from '../../../src/services/webhooks/deliveries/replay-events.ts';
import { testWebhook } from '../../../src/services/webhooks/test-webhook.ts';
import { createWebhookMetrics } from '../../../src/services/webhooks/webhook-metrics.ts';
import { openSession, ordersOf } from '../../support/interleave.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { testSlots } from '../../support/slots.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type WebhookRows, webhookRows } from '../../support/webhook-rows.ts';

let service: TestService;
let rows: WebhookRows;
let workspaceId: string;
let pool: pg.Pool;
const outbound = createOutbound({ allowPrivate: 'loopback', timeoutMs: 1_000 });
beforeAll(async () => {
  service = await startTestService({}, { workers: false, own: 'its job goes over all workspaces' });
  const { db, cipher } = service.dependencies;
  rows = webhookRows(db, cipher);
  const [found] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'default'` });
  workspaceId = found?.id ?? '';
  pool = new pg.Pool({ connectionString: service.databaseUrl });
});
afterAll(async () => {
  await outbound.close();
  await pool?.end();
  await service?.stop();
});

function relayDeps() {
  const { db, client, taskQueues, log } = service.dependencies;
  return { db, log, starter: { client, taskQueues, eager: false, retryWaitsMs: [1_000] } };
}

/** Like {@link deleteWebhook}, on a connection whose statements run one at a time. */
function deleting(query: Query, webhookId: string) {
  const own = bindWorkspace(query, workspaceId);
  const database = service.dependencies.db.workspace(workspaceId);
  return deleteWebhook({ ...database, query: own, transaction: (work) => work(own) }, webhookId);
}

/** Claims an event and creates its delivery; then the process dies. */
async function dispatching(query: Query): Promise<void> {
  const died = new Error('The process died.');
  let statements = 0;
  const onlyFirst = createQuery((statement, values) => {
    statements += 1;
    return statements === 1 ? query(statement, values) : Promise.reject(died);
  });
  const { db } = relayDeps();
  const dying = { ...db, system: { ...db.system, query: onlyFirst } };
  await dispatchEvents({ db: dying }).catch((error: unknown) => {
    if (error !== died) throw error;
  });
}

/** The creators of deliveries, with their number of statements. */
const MAKERS: Record<
  string,
  { statements: number; make(query: Query, webhookId: string, oldDeliveryId: string): Promise<unknown> }
> = {
  'the relay': { statements: 1, make: dispatching },
  'a replay': {
    statements: 2,
    make: (query, webhookId) =>
      replayEvents(bindWorkspace(query, workspaceId), webhookId, {
        since: new Date(Date.now() - 60_000),
        undeliveredOnly: false,
      }),
  },
  'a test': {
    statements: 2,
    make: (query, webhookId) =>
      testWebhook(bindWorkspace(query, workspaceId), webhookId, { type: undefined, deliveryId: newId() }),
  },
  'a redelivery': {
    statements: 4,
    make: (query, _webhookId, oldDeliveryId) => redeliver(bindWorkspace(query, workspaceId), oldDeliveryId),
  },
};

/** A webhook, an event that only a redelivery dispatches, and a delivery that has ended. */
async function setUp(maker: string) {
  const { query } = service.dependencies.db.system;
  await query({ text: 'delete from deliveries' });
  await query({ text: 'delete from events' });
  const webhookId = await rows.webhook({ url: 'http://127.0.0.1:9/', events: ['prompt.created'] });
  const eventId = await rows.event();
  if (maker === 'the relay') return { webhookId, deliveryId: '' };
  const [old] = await query<{ id: string }>(
    {
      text: `with dispatched as (update events set dispatched_at = now() where id = $2)
             insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
             values ($1, gen_random_uuid(), $2, $3, 'event', 'delivered', now()) returning id`,
    },
    [workspaceId, eventId, webhookId],
  );
  return { webhookId, deliveryId: old?.id ?? '' };
}

async function unfinished(webhookId: string): Promise<string[]> {
  const all = await rows.deliveries(webhookId);
  return all.map(({ status }) => status).filter((status) => status === 'queued' || status === 'waiting');
}

/** What a relay finds later. */
async function relayLater(): Promise<void> {
  await service.dependencies.db.system.query({
    text: `update deliveries set claimed_at = now() - interval '1 minute' where claimed_at is not null`,
  });
  const { db, starter, log } = relayDeps();
  const { cipher, registry } = service.dependencies;
  const webhookMetrics = createWebhookMetrics(registry, db);
  const attempts = createAttemptMaker({ db, cipher, outbound, webhookMetrics, memory: createByteBudget(0.1) });
  const firstAttempts = createFirstAttempts({ db, starter, log, attempts, slots: testSlots() }, () => {});
  await beginFirstAttempts({ db, starter, log, firstAttempts }, true);
  await firstAttempts.stop();
}

describe.each(Object.entries(MAKERS))('deleting a webhook, statement by statement beside %s', (name, maker) => {
  test('leaves no delivery queued in any order, with or without a rollback', async () => {
    let left = 0;
    for (const order of ordersOf(3, maker.statements + 1))
      for (const deleteEnd of ['commit', 'rollback'] as const)
        for (const makeEnd of ['commit', 'rollback'] as const) {
          const { webhookId, deliveryId } = await setUp(name);
          const sessions = [
            await openSession(pool, (query) => deleting(query, webhookId), deleteEnd),
            await openSession(pool, (query) => maker.make(query, webhookId, deliveryId), makeEnd),
          ];
          for (const each of order) await sessions[each]?.step();
          await Promise.all(sessions.map((session) => session.ended()));
          for (const session of sessions) session.close();
          const [webhook] = await service.dependencies.db.system.query(
            { text: 'select 1 from webhooks where id = $1' },
            [webhookId],
          );
          expect(webhook === undefined).toBe(deleteEnd === 'commit');
          const before = await unfinished(webhookId);
          if (deleteEnd === 'rollback') {
            // No created delivery is lost.
            expect([order, makeEnd, before]).toEqual([order, makeEnd, makeEnd === 'commit' ? ['queued'] : []]);
            continue;
          }
          left += before.length;
          // A relay of another process may be processing a row at this moment.
          await waitFor(`no delivery to be left by ${order.join()} and ${makeEnd}`, async () => {
            await relayLater();
            return (await unfinished(webhookId)).length === 0;
          });
        }
    // The relay does not lock webhooks, so that a deletion does not block events: it finds the rows that it may leave.
    expect(left > 0).toBe(name === 'the relay');
  });
});

test('a started delivery with a lost workflow ends if its webhook is gone', async () => {
  const { webhookId } = await setUp('the relay');
  const { db, client, taskQueues, log } = service.dependencies;
  await db.system.query(
    {
      text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at, started_at, next_attempt_at, check_at)
             select $1, gen_random_uuid(), id, $2, 'event', 'waiting', now(), now(), now() - interval '1 hour', now() - interval '1 hour' from events`,
    },
    [workspaceId, webhookId],
  );
  await db.system.query({ text: 'delete from webhooks where id = $1' }, [webhookId]);
  await reconcileDeliveries({ db, starter: { client, taskQueues, eager: false, retryWaitsMs: [1_000] }, log });
  expect(await rows.deliveries(webhookId)).toMatchObject([
    { status: 'abandoned', status_reason: 'The webhook was deleted.' },
  ]);
});
