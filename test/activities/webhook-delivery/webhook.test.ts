import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { Registry } from 'prom-client';
import { createWebhookActivities, type WebhookActivities } from '../../../src/activities/webhook-delivery/webhook.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { type Cipher, createCipher } from '../../../src/domain/cipher.ts';
import { newId } from '../../../src/domain/ids.ts';
import { createByteBudget } from '../../../src/lib/byte-budget.ts';
import { createFairSemaphore } from '../../../src/lib/fair-semaphore.ts';
import { createOutbound, type Outbound } from '../../../src/outbound/outbound.ts';
import { generateApiKey } from '../../../src/services/access/api-keys.ts';
import { type AttemptTask, createAttemptMaker } from '../../../src/services/webhooks/deliveries/make-attempt.ts';
import { createWebhookMetrics } from '../../../src/services/webhooks/webhook-metrics.ts';
import { ensureFirstKey } from '../../../src/services/workspaces/bootstrap.ts';
import { createTestDatabase } from '../../support/database.ts';
import { answering, type Receiver, startReceiver } from '../../support/receiver.ts';
import { testSlots } from '../../support/slots.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type WebhookRows, webhookRows } from '../../support/webhook-rows.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let cipher: Cipher;
let outbound: Outbound;
let rows: WebhookRows;
let receiver: Receiver;
let activities: WebhookActivities;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  await ensureFirstKey(db, generateApiKey());
  cipher = createCipher([randomBytes(32)]);
  outbound = createOutbound({ allowPrivate: 'loopback', timeoutMs: 10_000 });
  rows = webhookRows(db, cipher);
  receiver = await startReceiver();
  activities = activitiesWith(20);
});
afterEach(() => {
  receiver.respond = answering(200);
  receiver.received.length = 0;
});
afterAll(async () => {
  await receiver?.close();
  await outbound?.close();
  await db?.close();
  await database?.drop();
});

/** @param concurrency per host, without waiting in place */
function activitiesWith(concurrency: number, memory = createByteBudget(0.1)): WebhookActivities {
  return createWebhookActivities({
    db,
    attempts: createAttemptMaker({
      db,
      cipher,
      outbound,
      webhookMetrics: createWebhookMetrics(new Registry(), db),
      memory,
    }),
    slots: testSlots({ hostConcurrency: concurrency }),
    mailer: undefined,
  });
}

const logger = new DefaultLogger('ERROR', () => {});
const attempt = (task: AttemptTask, of = activities) =>
  new MockActivityEnvironment({}, { logger }).run((each: AttemptTask) => of.attemptDelivery(each), task);

/** A delivery as created by the relay. */
async function queue(webhook: string): Promise<string> {
  const [event, id] = [await rows.event(), newId()];
  await db.system.query(
    {
      text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
             select workspace_id, $1, id, $2, 'event', 'queued', now() from events where id = $3`,
    },
    [id, webhook, event],
  );
  return id;
}

test('a recorded attempt is not sent again; the remaining wait is returned', async () => {
  receiver.respond = answering(503);
  const webhook = await rows.webhook({ url: receiver.url });
  const deliveryId = await queue(webhook);
  const task = { deliveryId, attempt: 1, retryInMs: 60_000 };
  expect(await attempt(task)).toEqual({ state: 'failed', reason: 'HTTP 503' });
  await db.system.query({
    text: `update deliveries set next_attempt_at = next_attempt_at - interval '40 seconds'`,
  });
  // As after a worker that crashed before reporting it.
  const again = await attempt(task);
  expect(again).toMatchObject({ state: 'failed', reason: 'HTTP 503', waitMs: expect.any(Number) });
  expect(again).toHaveProperty('waitMs', expect.closeTo(20_000, -4));
  expect(receiver.received).toHaveLength(1);
  expect(await rows.read(webhook)).toMatchObject({ consecutive_failures: 1 });
});

test('a delivered event is not sent again', async () => {
  const deliveryId = await queue(await rows.webhook({ url: receiver.url }));
  const task = { deliveryId, attempt: 1, retryInMs: 60_000 };
  expect(await attempt(task)).toEqual({ state: 'delivered' });
  expect(await attempt(task)).toEqual({ state: 'delivered' });
  expect(receiver.received).toHaveLength(1);
});

test('the same attempt twice at the same time is sent once, and both get its result', async () => {
  const deliveryId = await queue(await rows.webhook({ url: receiver.url }));
  const task = { deliveryId, attempt: 1, retryInMs: 60_000 };
  expect(await Promise.all([attempt(task), attempt(task)])).toEqual([{ state: 'delivered' }, { state: 'delivered' }]);
  expect(receiver.received).toHaveLength(1);
});

test.each([
  ['disabled', `update webhooks set status = 'disabled' where id = $1`],
  ['deleted', 'delete from webhooks where id = $1'],
])('nothing is sent to a webhook that was %s', async (what, text) => {
  const webhook = await rows.webhook({ url: receiver.url });
  const deliveryId = await queue(webhook);
  await db.system.query({ text }, [webhook]);
  expect(await attempt({ deliveryId, attempt: 1, retryInMs: 60_000 })).toEqual({ state: 'abandoned' });
  expect(receiver.received).toHaveLength(0);
  expect(await rows.deliveries(webhook)).toMatchObject([
    { status: 'abandoned', status_reason: `The webhook was ${what}.` },
  ]);
});

test('nothing is sent for a missing delivery', async () => {
  expect(await attempt({ deliveryId: newId(), attempt: 1, retryInMs: 60_000 })).toEqual({ state: 'abandoned' });
});

test('a host with enough in progress is left alone, and the delivery gets a time to come back', async () => {
  let answer = () => {};
  receiver.respond = async (_request, response) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    response.writeHead(200).end();
  };
  const webhook = await rows.webhook({ url: receiver.url });
  const narrow = activitiesWith(1);
  const first = attempt({ deliveryId: await queue(webhook), attempt: 1, retryInMs: 60_000 }, narrow);
  await receiver.got(1);
  const second = { deliveryId: await queue(webhook), attempt: 1, retryInMs: 60_000 };
  expect(await attempt(second, narrow)).toMatchObject({ state: 'held back', forMs: expect.any(Number) });
  expect(receiver.received).toHaveLength(1);
  answer();
  expect(await first).toEqual({ state: 'delivered' });
  receiver.respond = answering(200);
  expect(await attempt(second, narrow)).toEqual({ state: 'delivered' });
});

test('bodies that fill the available memory are sent one after the other, each whole', async () => {
  let [inFlight, most] = [0, 0];
  receiver.respond = async (_request, response) => {
    most = Math.max(most, ++inFlight);
    await delay(50);
    inFlight -= 1;
    response.writeHead(200).end();
  };
  const webhook = await rows.webhook({ url: receiver.url });
  const ids = await Promise.all([1, 2, 3].map(() => queue(webhook)));
  // Longer than the part that is read with the delivery.
  await db.system.query(
    {
      text: `update events set data = json_build_object('text', repeat('x', 100000)) where id in (select event_id from deliveries where id = any($1))`,
    },
    [ids],
  );
  const narrow = activitiesWith(20, createFairSemaphore({ total: 1_000_000 }));
  const all = ids.map((deliveryId) => attempt({ deliveryId, attempt: 1, retryInMs: 60_000 }, narrow));
  expect(await Promise.all(all)).toEqual(Array(3).fill({ state: 'delivered' }));
  expect(most).toBe(1);
  const text = expect.stringMatching(/^x{100000}$/);
  for (const { body } of receiver.received) expect(body).toMatchObject({ data: { text } });
});

test('with a rate limit a slot is taken once, however often it retries', async () => {
  const webhook = await rows.webhook({ url: receiver.url, ratePerMinute: 1 });
  expect(await attempt({ deliveryId: await queue(webhook), attempt: 1, retryInMs: 60_000 })).toEqual({
    state: 'delivered',
  });
  const second = { deliveryId: await queue(webhook), attempt: 1, retryInMs: 60_000 };
  const heldBack = { state: 'held back', reason: 'rate limit of the webhook', forMs: expect.closeTo(60_000, -4) };
  expect(await attempt(second)).toEqual(heldBack);
  expect(await attempt(second)).toEqual(heldBack);
  await db.system.query({ text: `update deliveries set slot_at = now() where id = $1` }, [second.deliveryId]);
  expect(await attempt(second)).toEqual({ state: 'delivered' });
});

test('a secret that no configured key opens fails the step, not the attempt, and nothing is sent', async () => {
  const webhook = await rows.webhook({ url: receiver.url });
  const deliveryId = await queue(webhook);
  await db.system.query({ text: `update webhooks set secret = $2 where id = $1` }, [
    webhook,
    createCipher([randomBytes(32)]).encrypt(Buffer.from('whsec_x')),
  ]);
  const task = { deliveryId, attempt: 1, retryInMs: 60_000 };
  await expect(attempt(task)).rejects.toThrow(/key/);
  expect(receiver.received).toHaveLength(0);
  const [delivery] = await waitFor('the row', () => rows.deliveries(webhook));
  expect(delivery).toMatchObject({ status: 'queued', attempts_made: 0 });
});
