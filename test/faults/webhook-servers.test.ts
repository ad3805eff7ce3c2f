import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { publicId } from '../../src/domain/ids.ts';
import { AT_FULL_SIZE, OUTAGE_MS, tell } from '../support/fault-runs.ts';
import { type OwnServers, startOwnServers } from '../support/fault-servers.ts';
import { isAlive } from '../support/fault-stage.ts';
import {
  createScene,
  expectRecorded,
  type Hold,
  holding,
  secondsSince,
  tally,
  type WebhookStage,
} from '../support/fault-webhooks.ts';
import type { Started } from '../support/processes.ts';
import { answering, type Respond } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

/** Each in every state. */
const EVENTS = 20;

const scene = createScene();
let servers: OwnServers;
let stage: WebhookStage;
let worker: Started;

beforeAll(async () => {
  servers = await startOwnServers();
  scene.afterwards(() => servers.remove());
  stage = await scene.stage({ WEBHOOK_RETRY_WAITS: '3s,10m', WEBHOOK_TIMEOUT: '60s' }, servers);
  worker = await stage.startWorker();
});
afterEach(async () => {
  await stage.query({ text: `update webhooks set status = 'disabled'` });
});
afterAll(() => scene.end());

/** First attempts fail; those early enough to be retried in between are held. */
function failingOnce(hold: Hold): Respond {
  return (request, ...rest) =>
    request.headers['x-delivery-attempt'] === '1' ? answering(500)(request, ...rest) : hold.respond(request, ...rest);
}

/** The worker recovered on its own. */
function expectStillUp(): void {
  expect(isAlive(worker.pid)).toBe(true);
  expect(worker.output()).not.toMatch(/unhandled|"level":60/);
}

test('events written while Temporal was down, and deliveries that waited for it, arrive; failed ones are retried once, and not before their time', async () => {
  const hold = holding();
  const receiver = await scene.receiver(failingOnce(hold));
  const webhook = await stage.rows.webhook({ url: receiver.url, events: ['prompt.created'] });
  const failing = await scene.receiver(answering(500));
  const failingWebhook = await stage.rows.webhook({ url: failing.url, events: ['prompt.updated'] });
  const waiting = await stage.rows.events(EVENTS);
  await stage.untilStatus(webhook, 'waiting', EVENTS);
  receiver.respond = hold.respond;
  const underWay = await stage.rows.events(EVENTS);
  await until('attempts are under way', async () => hold.held() >= EVENTS / 2);
  await servers.temporal.stop();
  hold.release();
  const unseen = await stage.rows.events(EVENTS);
  const failed: string[] = [];
  for (let count = 0; count < 5; count += 1) failed.push(await stage.rows.event('prompt.updated'));
  await until('first attempts are made without Temporal', async () => tally(receiver.received, unseen).lost === 0);
  await stage.untilStatus(failingWebhook, 'waiting', failed.length);
  const failedOnce = await stage.rows.deliveries(failingWebhook);
  const dueAt = new Map(failedOnce.map((row) => [publicId('delivery', row.id), row.next_attempt_at?.getTime()]));
  failing.respond = answering(200);
  await until('all retries are overdue', async () => {
    const text = `select from deliveries where status = 'waiting' and next_attempt_at > now()`;
    return (await stage.query({ text })).length === 0;
  });
  if (AT_FULL_SIZE) await delay(OUTAGE_MS);
  await servers.temporal.start();
  const backAt = Date.now();
  await stage.untilStatus(webhook, 'delivered', 3 * EVENTS);
  const { lost, duplicates } = tally(receiver.received, [...waiting, ...underWay, ...unseen]);
  tell(`Temporal away: ${lost} lost, ${duplicates} duplicates, ${secondsSince(backAt)} s after it was back`);
  expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
  expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
  await stage.untilEnded(webhook, 3 * EVENTS);

  await stage.untilStatus(failingWebhook, 'delivered', failed.length);
  tell(`failed without Temporal: delivered ${secondsSince(backAt)} s after it was back`);
  const retries = failing.received.slice(failed.length);
  expect(retries.map(({ headers }) => headers['x-delivery-attempt'])).toEqual(failed.map(() => '2'));
  for (const { at, headers } of retries)
    expect(at).toBeGreaterThanOrEqual(dueAt.get(String(headers['x-delivery-id'])) ?? Infinity);
  expect(tally(failing.received, failed)).toEqual({ lost: 0, duplicates: 0 });
  await stage.untilEnded(failingWebhook, failed.length);
  expectStillUp();
});

test('answers that came during a database outage are recorded, and waiting deliveries are sent', async () => {
  const hold = holding();
  const receiver = await scene.receiver(failingOnce(hold));
  const webhook = await stage.rows.webhook({ url: receiver.url });
  const waiting = await stage.rows.events(EVENTS);
  await stage.untilStatus(webhook, 'waiting', EVENTS);
  receiver.respond = hold.respond;
  const underWay = await stage.rows.events(EVENTS);
  await until('attempts are under way', async () => hold.held() >= EVENTS / 2);
  const outputBefore = worker.output().length;
  await servers.postgres.stop();
  hold.release();
  await until('the worker meets the outage', async () =>
    /failed; trying again|task failed/.test(worker.output().slice(outputBefore)),
  );
  if (AT_FULL_SIZE) await delay(OUTAGE_MS);
  const sentMeanwhile = receiver.received.length;
  await servers.postgres.start();
  const backAt = Date.now();
  await stage.untilStatus(webhook, 'delivered', 2 * EVENTS);
  const { lost, duplicates } = tally(receiver.received, [...waiting, ...underWay]);
  tell(
    `database away: ${lost} lost, ${duplicates} duplicates, ${sentMeanwhile} answered before it was back, ` +
      `${secondsSince(backAt)} s after it was back`,
  );
  expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
  expect(receiver.received).toHaveLength(3 * EVENTS);
  expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
  await stage.untilEnded(webhook, 2 * EVENTS);
  expectStillUp();
});

test('everything that was killed at once resumes where it was', async () => {
  const hold = holding();
  const receiver = await scene.receiver(failingOnce(hold));
  const webhook = await stage.rows.webhook({ url: receiver.url });
  const waiting = await stage.rows.events(EVENTS);
  await stage.untilStatus(webhook, 'waiting', EVENTS);
  receiver.respond = hold.respond;
  const underWay = await stage.rows.events(EVENTS);
  await until('attempts are under way', async () => hold.held() >= EVENTS / 2);
  await Promise.all([worker.killTree(), servers.postgres.kill(), servers.temporal.kill()]);
  // Requests of the worker may still be on their way.
  await receiver.disconnected();
  const hit = hold.held();
  hold.release();
  receiver.respond = answering(200);
  await Promise.all([servers.postgres.start(), servers.temporal.start()]);
  await until('the claims of the dead to expire', () => stage.letClaimsExpire().then(() => true));
  worker = await stage.startWorker({ WEBHOOK_RETRY_WAITS: '10m' });
  const backAt = Date.now();
  await stage.untilStatus(webhook, 'delivered', 2 * EVENTS);
  const { lost, duplicates } = tally(receiver.received, [...waiting, ...underWay]);
  tell(
    `everything killed in ${hit} attempts: ${lost} lost, ${duplicates} duplicates, ` +
      `${secondsSince(backAt)} s after it was back`,
  );
  expect(lost).toBe(0);
  expect(duplicates).toBeLessThanOrEqual(hit);
  expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
  await stage.untilEnded(webhook, 2 * EVENTS);
});

test('deliveries unknown to a new, empty Temporal are restarted at the next attempt', async () => {
  const receiver = await scene.receiver(answering(500));
  const webhook = await stage.rows.webhook({ url: receiver.url });
  const events = await stage.rows.events(EVENTS);
  await stage.untilStatus(webhook, 'waiting', EVENTS);
  await worker.killTree();
  await servers.loseTemporal();
  receiver.respond = answering(200);
  // Work overdue by a minute is picked up.
  await stage.query(
    {
      text: `update deliveries set next_attempt_at = now() - interval '2 minutes', started_at = now() - interval '3 minutes',
               check_at = now() - interval '1 second' where webhook_id = $1`,
    },
    [webhook],
  );
  worker = await stage.startWorker();
  const startedAt = Date.now();
  await stage.untilStatus(webhook, 'delivered', EVENTS);
  const { lost, duplicates } = tally(receiver.received, events);
  tell(`Temporal lost: ${lost} lost, ${duplicates} duplicates, ${secondsSince(startedAt)} s after a worker was there`);
  expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
  const again = receiver.received.slice(EVENTS).map(({ headers }) => headers['x-delivery-attempt']);
  expect(again).toEqual(events.map(() => '2'));
  expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
  await stage.untilEnded(webhook, EVENTS);
});

test('a worker that survives the loss of all Temporal data delivers later events', async () => {
  const receiver = await scene.receiver();
  await servers.loseTemporal();
  const startedAt = Date.now();
  const webhook = await stage.rows.webhook({ url: receiver.url, events: ['execution.completed'] });
  await stage.rows.event('execution.completed');
  await stage.untilStatus(webhook, 'delivered', 1);
  tell(`Temporal lost under a running worker: delivered ${secondsSince(startedAt)} s later`);
});
