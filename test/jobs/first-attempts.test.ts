import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { publicId } from '../../src/domain/ids.ts';
import { reconcileDeliveries } from '../../src/jobs/reconcile-deliveries.ts';
import { deliveryWorkflowId } from '../../src/temporal/names.ts';
import { historyToJson } from '../support/histories.ts';
import { eventsOf } from '../support/history-events.ts';
import { answering, type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type DeliveryRow, type WebhookRows, webhookRows } from '../support/webhook-rows.ts';

const HOST_CONCURRENCY = 5;
const MINUTE_MS = 60_000;

let service: TestService;
let rows: WebhookRows;
let open: Receiver[] = [];

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_HOST_CONCURRENCY: String(HOST_CONCURRENCY) });
  rows = webhookRows(service.dependencies.db, service.dependencies.cipher);
});
afterEach(async () => {
  await service.dependencies.db.system.query({ text: `update webhooks set status = 'disabled'` });
  await Promise.all(open.map((receiver) => receiver.close()));
  open = [];
});
afterAll(() => service?.stop());

async function receiverOf(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  open.push(receiver);
  return receiver;
}

/** Holds requests until released. */
function holding(status = 200) {
  const released = Promise.withResolvers<void>();
  const respond: Respond = async (_request, response) => {
    await released.promise;
    response.writeHead(status).end();
  };
  return { respond, release: () => released.resolve() };
}

const workflowOf = (webhook: string, { id, event_id: eventId }: DeliveryRow, trigger = 'event') =>
  service.dependencies.client.workflow.getHandle(deliveryWorkflowId({ id, eventId, webhookId: webhook, trigger }));

async function expectNoWorkflow(webhook: string, row: DeliveryRow, trigger?: string): Promise<void> {
  expect(row.started_at).toBeNull();
  await expect(workflowOf(webhook, row, trigger).describe()).rejects.toThrow(WorkflowNotFoundError);
}

const presented = async (id: string) => (await service.call('GET', `/deliveries/${publicId('delivery', id)}`)).body;

function theOnly([row, ...others]: DeliveryRow[]): DeliveryRow {
  expect(others).toEqual([]);
  if (row === undefined) throw new Error('There is no delivery.');
  return row;
}

async function timersOf(webhook: string, row: DeliveryRow, trigger?: string) {
  return waitFor('a timer', async () => {
    const history = historyToJson(await workflowOf(webhook, row, trigger).fetchHistory());
    const timers = eventsOf(history, 'TIMER_STARTED');
    return timers.length > 0 ? timers : undefined;
  });
}

describe('a first attempt', () => {
  test('that succeeds leaves nothing in Temporal', async () => {
    const receiver = await receiverOf();
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    const row = theOnly(await rows.reached(webhook, 'delivered'));
    await expectNoWorkflow(webhook, row);
    expect(await presented(row.id)).toMatchObject({ workflow_id: null, attempts_made: 1, attempts: [{ status: 200 }] });
  });

  test('that fails is followed by a workflow, which shows its wait', async () => {
    const receiver = await receiverOf(answering(503));
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    const row = theOnly(await rows.started(webhook));
    const { host } = new URL(receiver.url);
    expect(row).toMatchObject({ status: 'waiting', status_reason: 'HTTP 503', attempts_made: 1 });
    expect(await presented(row.id)).toMatchObject({ workflow_id: workflowOf(webhook, row).workflowId });
    expect(await timersOf(webhook, row)).toMatchObject([
      { summary: `retry 1 of 5 in 1 min: HTTP 503 from ${host}`, waitMs: MINUTE_MS },
    ]);
    expect(await workflowOf(webhook, row).query('state')).toBe('waiting');
    expect(receiver.received).toHaveLength(1);
  });

  test('of a test or a redelivery has no workflow either, even if a test fails', async () => {
    const receiver = await receiverOf();
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    const first = theOnly(await rows.reached(webhook, 'delivered'));
    const again = await service.call('POST', `/deliveries/${publicId('delivery', first.id)}/redeliver`);
    expect(again.body).toMatchObject({ status: 'queued', workflow_id: null });
    const [, redelivered] = await rows.reached(webhook, 'delivered', 2);
    if (redelivered === undefined) throw new Error('There is no redelivery.');
    await expectNoWorkflow(webhook, redelivered, 'redelivery');
    receiver.respond = answering(500);
    const tested = await service.call('POST', `/webhooks/${publicId('webhook', webhook)}/test`);
    expect(tested.body).toMatchObject({ status: 'failed', attempts_made: 1, workflow_id: null });
    const [, , test] = await rows.deliveries(webhook);
    if (test === undefined) throw new Error('There is no test.');
    await expectNoWorkflow(webhook, test, 'test');
  });

  test('that waits for a slot of a rate limit does so in a workflow', async () => {
    const receiver = await receiverOf();
    const webhook = await rows.webhook({ url: receiver.url, ratePerMinute: 2 });
    await rows.events(2);
    const all = await rows.started(webhook);
    const row = all.find(({ started_at: startedAt }) => startedAt !== null);
    if (row === undefined) throw new Error('None waits.');
    const [timer] = await timersOf(webhook, row);
    const { host } = new URL(receiver.url);
    expect(timer?.summary).toMatch(
      new RegExp(`^attempt 1 of 6 to ${host} in (30|29.\\d) s: rate limit of the webhook$`),
    );
    expect(await workflowOf(webhook, row).query('state')).toBe('held back');
    expect(receiver.received).toHaveLength(1);
    expect(row).toMatchObject({ status: 'queued', attempts_made: 0 });
  });

  test('without a slot for a while waits for it in a workflow; each is sent once', async () => {
    const hold = holding();
    const receiver = await receiverOf(hold.respond);
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.events(2 * HOST_CONCURRENCY);
    const all = await rows.started(webhook, HOST_CONCURRENCY);
    expect(all.filter(({ started_at: startedAt }) => startedAt !== null)).toHaveLength(HOST_CONCURRENCY);
    expect(receiver.received).toHaveLength(HOST_CONCURRENCY);
    hold.release();
    await rows.reached(webhook, 'delivered', 2 * HOST_CONCURRENCY);
    expect(receiver.received).toHaveLength(2 * HOST_CONCURRENCY);
  });
});

describe('a webhook that is disabled or deleted during a first attempt', () => {
  test.each([
    ['POST', '/disable', 503, 'abandoned'],
    ['POST', '/disable', 200, 'delivered'],
    ['DELETE', '', 503, 'abandoned'],
    ['DELETE', '', 200, 'delivered'],
  ])('%s %s: answered %d, the delivery is %s, with its attempt', async (method, action, answer, status) => {
    const hold = holding(answer);
    const receiver = await receiverOf(hold.respond);
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    await receiver.got(1);
    expect((await service.call(method, `/webhooks/${publicId('webhook', webhook)}${action}`)).status).toBe(200);
    expect(theOnly(await rows.deliveries(webhook))).toMatchObject({ status: 'abandoned', attempts_made: 0 });
    hold.release();
    const row = await waitFor('the attempt to be recorded', async () => {
      const recorded = theOnly(await rows.deliveries(webhook));
      return recorded.attempts_made > 0 && !recorded.to_end ? recorded : undefined;
    });
    expect(row).toMatchObject({ status, attempts_made: 1, attempts: [{ attempt: 1, status: answer }] });
    await expectNoWorkflow(webhook, row);
  });
});

test('one that failed and was left without a workflow waits in one for the rest of its time', async () => {
  const { db, client, taskQueues, log } = service.dependencies;
  const receiver = await receiverOf(answering(503));
  const webhook = await rows.webhook({ url: receiver.url });
  await rows.event();
  const lost = theOnly(await rows.started(webhook));
  // As if the process had died between the record and the start.
  const redelivery = await db.system.query<{ id: string }>(
    {
      text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, status_reason, attempts_made,
               created_at, claimed_at, next_attempt_at, check_at)
             select workspace_id, gen_random_uuid(), event_id, webhook_id, 'redelivery', 'waiting', 'HTTP 503', 1,
               now(), now(), now() + interval '40 seconds', now() - interval '1 second' from deliveries where id = $1
             returning id`,
    },
    [lost.id],
  );
  const starter = { client, taskQueues, eager: false, retryWaitsMs: [MINUTE_MS, 5 * MINUTE_MS] };
  await reconcileDeliveries({ db, starter, log });
  const all = await rows.started(webhook, 2);
  const row = all.find(({ id }) => id === redelivery[0]?.id);
  if (row === undefined) throw new Error('There is no such delivery.');
  const [timer] = await timersOf(webhook, row, 'redelivery');
  expect(timer?.waitMs ?? 0).toBeGreaterThan(30_000);
  expect(timer?.waitMs ?? 0).toBeLessThanOrEqual(40_000);
  expect(timer?.summary).toMatch(/^retry 1 of 2 in .* s: HTTP 503 from /);
  expect(receiver.received).toHaveLength(1);
});
