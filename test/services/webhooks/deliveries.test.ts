import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { publicId } from '../../../src/domain/ids.ts';
import { xSignature } from '../../../src/domain/webhooks/webhook-signature.ts';
import { reconcileDeliveries } from '../../../src/jobs/reconcile-deliveries.ts';
import { answering, type Receiver, type Respond, startReceiver } from '../../support/receiver.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TEST_SECRET, type WebhookRows, webhookRows } from '../../support/webhook-rows.ts';

const WAITS_MS = [200, 200, 200, 200, 200];

let service: TestService;
let rows: WebhookRows;
let open: Receiver[] = [];

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_RETRY_WAITS: WAITS_MS.map((ms) => `${ms}ms`).join(',') });
  rows = webhookRows(service.dependencies.db, service.dependencies.cipher);
});
afterAll(() => service?.stop());
afterEach(async () => {
  // So that no test gets another's events, including those that the relay has not processed yet.
  const { query } = service.dependencies.db.system;
  await query({ text: `update webhooks set status = 'disabled'` });
  await relayIsThrough();
  await Promise.all(open.map((receiver) => receiver.close()));
  open = [];
});

function relayIsThrough() {
  return waitFor('the relay to be through', async () => {
    const { query } = service.dependencies.db.system;
    return (await query({ text: 'select from events where dispatched_at is null limit 1' })).length === 0;
  });
}

async function receiverOf(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  open.push(receiver);
  return receiver;
}

/** The only delivery of a webhook, once it has a recorded attempt. */
function attempted(webhook: string) {
  return waitFor('an attempt', async () => {
    const [delivery] = await rows.deliveries(webhook);
    return delivery !== undefined && delivery.attempts.length > 0 ? delivery : undefined;
  });
}

async function makePrompt(name: string, template: string): Promise<void> {
  const { status } = await service.call('POST', '/prompts', { body: { name, template, model: 'sandbox/echo' } });
  expect(status).toBe(201);
}

describe('requests', () => {
  test('carry a new version of a prompt, exactly as specified', async () => {
    const receiver = await receiverOf();
    await rows.webhook({ url: receiver.url });
    await makePrompt('sent/once', 'Hello {{ name }}');
    const [got] = await receiver.got(1);
    expect(Object.keys(got?.body)).toEqual(['event', 'data', 'timestamp']);
    expect(got?.body).toEqual({
      event: 'prompt.created',
      data: {
        prompt_name: 'sent/once',
        version: 1,
        previous_version: null,
        model: 'sandbox/echo',
        commit_message: null,
      },
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-delivery-attempt': '1',
      'x-signature': xSignature(got?.raw ?? Buffer.alloc(0), TEST_SECRET),
      'x-event-id': expect.stringMatching(/^evt_/),
      'x-delivery-id': expect.stringMatching(/^dlv_/),
    });
    const headers = Object.fromEntries(
      Object.entries(got?.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    expect(new Webhook(TEST_SECRET).verify(got?.raw.toString() ?? '', headers)).toEqual(got?.body);
  });

  test('bring each event to only the webhooks that want it', async () => {
    const [all, some, none] = [await receiverOf(), await receiverOf(), await receiverOf()];
    await rows.webhook({ url: all.url });
    await rows.webhook({ url: some.url, events: ['prompt.updated', 'execution.completed'] });
    const unwanted = await rows.webhook({ url: none.url, events: ['evaluation.regression'] });
    await makePrompt('sent/two', 'One');
    await makePrompt('sent/two', 'Two');
    await service.call('POST', '/executions', { body: { prompt_name: 'sent/two' } });
    const events = (receiver: Receiver) => receiver.received.map(({ body }) => String(body.event)).sort();
    await all.got(4);
    await some.got(2);
    expect(events(all)).toEqual(['execution.completed', 'prompt.created', 'prompt.created', 'prompt.updated']);
    expect(events(some)).toEqual(['execution.completed', 'prompt.updated']);
    expect(await rows.deliveries(unwanted)).toEqual([]);
  });

  test('have the keys of an event in the documented order', async () => {
    const receiver = await receiverOf();
    await rows.webhook({ url: receiver.url, events: ['execution.completed'] });
    await makePrompt('sent/ordered', 'Hi');
    await service.call('POST', '/executions', { body: { prompt_name: 'sent/ordered' } });
    const [got] = await receiver.got(1);
    expect(Object.keys(got?.body.data)).toEqual([
      'execution_id',
      'prompt_name',
      'prompt_version',
      'model',
      'tokens',
      'cost',
      'latency',
    ]);
  });

  test("have the caller's own headers, which can't replace ours", async () => {
    const receiver = await receiverOf();
    const headers = { Authorization: 'Bearer of-the-receiver', 'X-Team': 'blue' };
    await rows.webhook({ url: receiver.url, headers });
    await rows.event();
    const [got] = await receiver.got(1);
    expect(got?.headers).toMatchObject({ authorization: 'Bearer of-the-receiver', 'x-team': 'blue' });
  });
});

describe('results', () => {
  test('a successful delivery is done after one attempt', async () => {
    const receiver = await receiverOf((_request, response) => void response.writeHead(204).end());
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    const [delivery] = await rows.reached(webhook, 'delivered');
    expect(delivery).toMatchObject({
      attempts_made: 1,
      status_reason: null,
      next_attempt_at: null,
      attempts: [{ attempt: 1, status: 204, error: null }],
    });
    const row = await waitFor('the webhook to show it', async () => {
      const read = await rows.read(webhook);
      return read['last_delivery_at'] === null ? undefined : read;
    });
    expect(row).toMatchObject({ status: 'enabled', consecutive_failures: 0 });
  });

  test('every attempt sends the same bytes under the same event id; success ends it and resets the failures', async () => {
    let answers = 0;
    const receiver = await receiverOf((_request, response) => {
      answers += 1;
      response.writeHead(answers < 3 ? 503 : 200).end(`answer ${answers}`);
    });
    const webhook = await rows.webhook({ url: receiver.url });
    const event = await rows.event();
    const [delivery] = await rows.reached(webhook, 'delivered');
    expect(new Set(receiver.received.map(({ raw }) => raw.toString('hex'))).size).toBe(1);
    expect(receiver.received.map(({ headers }) => [headers['x-event-id'], headers['x-delivery-attempt']])).toEqual(
      ['1', '2', '3'].map((attempt) => [publicId('event', event), attempt]),
    );
    expect(delivery?.attempts).toMatchObject([
      { attempt: 1, status: 503, error: 'HTTP 503', response_body: 'answer 1' },
      { attempt: 2, status: 503, error: 'HTTP 503', response_body: 'answer 2' },
      { attempt: 3, status: 200, error: null, response_body: 'answer 3' },
    ]);
    // Counted after the attempt is recorded.
    const row = await waitFor('the failures to be forgotten', async () => {
      const read = await rows.read(webhook);
      return read['consecutive_failures'] === 0 ? read : undefined;
    });
    expect(row).toMatchObject({ status: 'enabled' });
  });

  test('the fifth failed retry disables the webhook, notes it once, and ends waiting ones', async () => {
    const receiver = await receiverOf(answering(500));
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    await receiver.got(4);
    // It has not got as far when the first one is done.
    await rows.event();
    const deliveries = await rows.reached(webhook, 'failed');
    // All of it is one transaction: both become visible together.
    expect(deliveries.map(({ status }) => status)).toEqual(['failed', 'abandoned']);
    expect(deliveries[0]).toMatchObject({ attempts_made: 6, status_reason: 'HTTP 500' });
    expect(deliveries[1]).toMatchObject({ status_reason: 'The webhook was disabled.', next_attempt_at: null });
    expect(await rows.read(webhook)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('6 times'),
    });
    expect(await rows.notifications(webhook)).toMatchObject([
      { type: 'webhook.disabled', message: expect.stringContaining('HTTP 500') },
    ]);
    const unsent = await rows.event();
    await waitFor('the workflows to be told', async () =>
      (await rows.deliveries(webhook)).every(({ to_end: toEnd }) => !toEnd),
    );
    await relayIsThrough();
    expect(receiver.received.map(({ headers }) => headers['x-event-id'])).not.toContain(publicId('event', unsent));
    expect(await rows.deliveries(webhook)).toHaveLength(2);
  });

  test('an attempt that fails for good after its webhook was enabled again does not disable it', async () => {
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const receiver = await receiverOf(async ({ headers }, response) => {
      if (headers['x-delivery-attempt'] === '6') await held;
      response.writeHead(500).end();
    });
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    await receiver.got(6);
    for (const action of ['disable', 'enable'])
      expect((await service.call('POST', `/webhooks/${publicId('webhook', webhook)}/${action}`)).status).toBe(200);
    answer();
    await rows.reached(webhook, 'failed');
    expect(await rows.read(webhook)).toMatchObject({ status: 'enabled' });
    expect(await rows.notifications(webhook)).toEqual([]);
  });

  test('secrets returned by a receiver are not kept', async () => {
    const receiver = await receiverOf((request, response) => {
      const token = request.headers.authorization?.split(' ')[1];
      response.writeHead(400).end(`You sent ${request.headers.authorization}, so ${token}, and I know ${TEST_SECRET}.`);
    });
    const webhook = await rows.webhook({
      url: receiver.url,
      headers: { Authorization: 'Bearer keep-this-to-yourself' },
    });
    await rows.event();
    const delivery = await attempted(webhook);
    expect(delivery.attempts[0]?.response_body).toBe('You sent [removed], so [removed], and I know [removed].');
  });

  test('a redirect is a failure and is not followed', async () => {
    const trap = await receiverOf();
    const receiver = await receiverOf(
      (_request, response) => void response.writeHead(301, { Location: trap.url }).end(),
    );
    const webhook = await rows.webhook({ url: receiver.url });
    await rows.event();
    expect(await attempted(webhook)).toMatchObject({ status_reason: expect.stringContaining('HTTP 301') });
    expect(trap.received).toEqual([]);
  });

  test('a webhook with a rate limit gets all of them one by one', async () => {
    const receiver = await receiverOf();
    const webhook = await rows.webhook({ url: receiver.url, ratePerMinute: 600 });
    const begunAt = Date.now();
    await rows.events(6);
    await rows.reached(webhook, 'delivered', 6);
    const times = receiver.received.map(({ at }) => at).sort((a, b) => a - b);
    // Slots are a tenth of a second apart; none is used before its time.
    for (const [index, at] of times.entries()) expect(at - begunAt).toBeGreaterThanOrEqual(index * 100 - 5);
  });
});

describe('outside changes', () => {
  test('a delivery with a workflow terminated by an operator is ended, and the others are not', async () => {
    const receiver = await receiverOf(answering(503));
    // Its second attempt is a minute away.
    const webhook = await rows.webhook({ url: receiver.url, ratePerMinute: 1 });
    const event = await rows.event();
    await rows.started(webhook);
    const { db, client, log, taskQueues } = service.dependencies;
    const workflowId = `webhook-delivery/${publicId('event', event)}/${publicId('webhook', webhook)}`;
    await client.workflow.getHandle(workflowId).terminate();
    const sent = receiver.received.length;
    await db.system.query(
      {
        text: `update deliveries set next_attempt_at = now() - interval '2 minutes', check_at = now() - interval '1 second' where webhook_id = $1`,
      },
      [webhook],
    );
    await reconcileDeliveries({ db, starter: { client, taskQueues, eager: false, retryWaitsMs: WAITS_MS }, log });
    const [delivery] = await rows.reached(webhook, 'abandoned');
    expect(delivery?.status_reason).toContain('An operator ended its workflow');
    expect(receiver.received.length).toBe(sent);
  });

  test('a delivery is found by event and webhook in Temporal, which holds no secrets', async () => {
    const receiver = await receiverOf((request, ...rest) =>
      answering(request.headers['x-delivery-attempt'] === '1' ? 503 : 200)(request, ...rest),
    );
    const webhook = await rows.webhook({ url: `${receiver.url}/path-token`, headers: { 'X-Token': 'the-token' } });
    const event = await rows.event();
    await rows.reached(webhook, 'delivered');
    const { client } = service.dependencies;
    const query = `PmsWebhook = '${publicId('webhook', webhook)}' and PmsEvent = '${publicId('event', event)}'`;
    const found = await waitFor('the workflow to be listed', async () => {
      for await (const each of client.workflow.list({ query })) return each;
      return undefined;
    });
    expect(found.workflowId).toBe(`webhook-delivery/${publicId('event', event)}/${publicId('webhook', webhook)}`);
    const history = JSON.stringify(await client.workflow.getHandle(found.workflowId).fetchHistory());
    const encoded = (text: string) => [text, Buffer.from(text).toString('base64').slice(2, -4)];
    for (const secret of [TEST_SECRET, 'the-token', 'path-token'].flatMap(encoded))
      expect(history).not.toContain(secret);
  });
});
