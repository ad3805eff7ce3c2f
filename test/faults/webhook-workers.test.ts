import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deliveryWorkflowId } from '../../src/temporal/names.ts';
import { deliveryStateQuery } from '../../src/workflows/webhook-delivery.ts';
import { sized, tell } from '../support/fault-runs.ts';
import {
  allCameAt,
  createScene,
  expectRecorded,
  holding,
  inFlight,
  secondsSince,
  tally,
  type WebhookStage,
} from '../support/fault-webhooks.ts';
import type { Started } from '../support/processes.ts';
import { answering } from '../support/receiver.ts';
import { createTurns } from '../support/turns.ts';
import { until } from '../support/wait-for.ts';

/** Requests of one process to one host at a time. */
const HOST_CONCURRENCY = 32;

const scene = createScene();
let stage: WebhookStage;
/** The only one at the start of a test. */
let worker: Started;

beforeAll(async () => {
  stage = await scene.stage({ WEBHOOK_TIMEOUT: '60s' });
});
afterAll(() => scene.end());
// Deliveries to a webhook end with its test.
const inTurn = createTurns(() => stage.query({ text: `update webhooks set status = 'disabled'` }));

// Mostly waits, so it runs concurrently with the others on its own stage.
test.concurrent('a retry comes once and not before its time, even if the worker was killed in its wait', async () => {
  const own = await scene.stage({ WEBHOOK_RETRY_WAITS: '12s,10m' });
  const receiver = await scene.receiver(answering(500));
  const first = await own.startWorker();
  const webhook = await own.rows.webhook({ url: receiver.url });
  const event = await own.rows.event();
  const workflow = deliveryWorkflowId({ id: '', eventId: event, webhookId: webhook, trigger: 'event' });
  await until('it waits', async () => {
    const handle = own.temporal.workflow.getHandle(workflow);
    return (await handle.query(deliveryStateQuery).catch(() => undefined)) === 'waiting';
  });
  await first.killTree();
  receiver.respond = answering(200);
  const [waiting] = await own.rows.deliveries(webhook);
  const dueAt = waiting?.next_attempt_at?.getTime() ?? Number.NaN;
  await own.startWorker();
  await own.untilStatus(webhook, 'delivered', 1);
  await own.untilEnded(webhook, 1);
  const [, retry] = receiver.received;
  const lateMs = (retry?.at ?? Number.NaN) - dueAt;
  tell(`killed while it waited: the retry came ${lateMs} ms after its time`);
  expect(receiver.received.map(({ headers }) => headers['x-delivery-attempt'])).toEqual(['1', '2']);
  expect(tally(receiver.received, [event])).toEqual({ lost: 0, duplicates: 0 });
  // The row's time is taken when the attempt is stored; the workflow's timer starts a little later.
  expect(lateMs).toBeGreaterThanOrEqual(0);
});

test.concurrent('events from a time without workers, and deliveries claimed by a dead relay, are sent', () =>
  inTurn(async () => {
    const receiver = await scene.receiver();
    const webhook = await stage.rows.webhook({ url: receiver.url });
    const claimed = await stage.rows.events(10);
    await stage.query(
      {
        text: `with done as (update events set dispatched_at = now() returning *)
             insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at, claimed_at)
             select workspace_id, gen_random_uuid(), id, $1, 'event', 'queued', now(), now() from done`,
      },
      [webhook],
    );
    await stage.letClaimsExpire();
    const unseen = await stage.rows.events(10);
    worker = await stage.startWorker();
    const startedAt = Date.now();
    await stage.untilStatus(webhook, 'delivered', unseen.length + claimed.length);
    const [unseenAt, claimedAt] = [allCameAt(receiver.received, unseen), allCameAt(receiver.received, claimed)];
    tell(`no worker at the commit: sent ${secondsSince(startedAt, unseenAt)} s after one started`);
    tell(`claimed by a dead relay: sent ${secondsSince(startedAt, claimedAt)} s after the next worker started`);
    expect(receiver.received).toHaveLength(unseen.length + claimed.length);
    expect(tally(receiver.received, [...unseen, ...claimed])).toEqual({ lost: 0, duplicates: 0 });
  }));

test.concurrent('events whose relay is killed as soon as it starts are delivered by the next worker', () =>
  inTurn(async () => {
    const receiver = await scene.receiver();
    const webhook = await stage.rows.webhook({ url: receiver.url });
    const events = await stage.rows.events(sized(50));
    await until('deliveries are made', async () => (await stage.rows.deliveries(webhook)).length > 0);
    await worker.killTree();
    const killedAt = Date.now();
    await receiver.disconnected();
    const left = await stage.rows.deliveries(webhook);
    const lostSightOf = inFlight(receiver.received, left);
    const unrecorded = left.filter(({ status }) => status === 'queued').length;
    await stage.letClaimsExpire();
    worker = await stage.startWorker();
    await stage.untilStatus(webhook, 'delivered', events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(
      `relay killed with ${unrecorded} of ${events.length} not recorded: ` +
        `${lost} lost, ${duplicates} duplicates, ${secondsSince(killedAt)} s`,
    );
    expect(lost).toBe(0);
    expect(duplicates).toBeLessThanOrEqual(lostSightOf);
    await stage.untilEnded(webhook, events.length);
  }));

test.concurrent('attempts that die with their worker are repeated unchanged by another', () =>
  inTurn(async () => {
    const hold = holding();
    const receiver = await scene.receiver(hold.respond);
    const webhook = await stage.rows.webhook({ url: receiver.url });
    const events = await stage.rows.events(10);
    await until('all attempts are under way', async () => hold.held() === events.length);
    const other = await stage.startWorker();
    await worker.killTree();
    worker = other;
    const killedAt = Date.now();
    receiver.respond = answering(200);
    await stage.letClaimsExpire();
    await stage.untilStatus(webhook, 'delivered', events.length);
    await stage.untilEnded(webhook, events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(`killed in ${events.length} attempts: ${lost} lost, ${duplicates} duplicates, ${secondsSince(killedAt)} s`);
    expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: events.length });
    const before = receiver.received.slice(0, events.length);
    for (const again of receiver.received.slice(events.length)) {
      const same = before.find(({ headers }) => headers['x-event-id'] === again.headers['x-event-id']);
      expect(again.raw).toEqual(same?.raw);
      for (const name of ['x-delivery-id', 'x-delivery-attempt', 'webhook-id'])
        expect(again.headers[name]).toBe(same?.headers[name]);
    }
    const deliveries = await stage.rows.deliveries(webhook);
    expect(deliveries.map(({ attempts_made: made }) => made)).toEqual(events.map(() => 1));
    expectRecorded(receiver.received, deliveries);
  }));

test.concurrent('events written while two workers run are each delivered once', () =>
  inTurn(async () => {
    const receiver = await scene.receiver();
    const other = await stage.startWorker();
    const webhook = await stage.rows.webhook({ url: receiver.url });
    const startedAt = Date.now();
    const writers = Array.from({ length: 10 }, async () => {
      const written: string[] = [];
      while (written.length < sized(100) / 10) written.push(await stage.rows.event());
      return written;
    });
    const events = (await Promise.all(writers)).flat();
    await stage.untilStatus(webhook, 'delivered', events.length);
    await stage.untilEnded(webhook, events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(`two relays, ${events.length} events: ${lost} lost, ${duplicates} duplicates, ${secondsSince(startedAt)} s`);
    expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
    expect(receiver.received).toHaveLength(events.length);
    for (const each of [worker, other]) expect(each.output()).not.toMatch(/unhandled|"level":60/);
    await other.killTree();
  }));

test.concurrent('a worker asked to stop ends its attempts and records them, and nothing is sent twice', () =>
  inTurn(async () => {
    const hold = holding();
    const receiver = await scene.receiver(hold.respond);
    const webhook = await stage.rows.webhook({ url: receiver.url });
    // More than go to one host at a time: some are deferred when the worker stops.
    const events = await stage.rows.events(3 * HOST_CONCURRENCY);
    await until('the attempts are under way', async () => hold.held() === HOST_CONCURRENCY);
    worker.kill('SIGTERM');
    await worker.says(/stopping/);
    hold.release();
    const { code, output } = await worker.ended;
    expect(code).toBe(0);
    expect(output).not.toMatch(/could not stop|unhandled|"level":60/);
    expectRecorded(receiver.received, await stage.rows.deliveries(webhook));
    const stoppedAt = Date.now();
    const byFirst = receiver.received.length;
    worker = await stage.startWorker();
    await stage.untilStatus(webhook, 'delivered', events.length);
    const { lost, duplicates } = tally(receiver.received, events);
    tell(
      `stopped in ${HOST_CONCURRENCY} attempts (${byFirst} ended): ${lost} lost, ${duplicates} duplicates, ` +
        `${secondsSince(stoppedAt)} s`,
    );
    expect({ lost, duplicates }).toEqual({ lost: 0, duplicates: 0 });
    expect(receiver.received).toHaveLength(events.length);
  }));
