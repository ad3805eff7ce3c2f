import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/common';
import { Webhook } from 'standardwebhooks';
import { bindWorkspace } from '../../src/db/database.ts';
import { publicId } from '../../src/domain/ids.ts';
import { abandonDeliveries } from '../../src/services/webhooks/deliveries/abandon-deliveries.ts';
import { cancelAttempt } from '../support/fake-webhook-delivery.ts';
import { historyToJson } from '../support/histories.ts';
import { eventsOf, readableText } from '../support/history-events.ts';
import { answering, type Respond } from '../support/receiver.ts';
import { type DeliveryRow, TEST_SECRET } from '../support/webhook-rows.ts';
import { openSkippingStage, type Sent, type SkippingStage } from '../support/webhook-skipping-stage.ts';

/** Must not appear in any history. */
const PATH = 'path-that-opens-it';
const QUERY = 'query-that-opens-it';
const HEADER = 'header-that-opens-it';
const SECRETS = [TEST_SECRET, TEST_SECRET.slice('whsec_'.length), PATH, QUERY, HEADER];
const TARGET = { path: `/hook/${PATH}?key=${QUERY}`, headers: { 'X-Opens-It': HEADER } };

let stage: SkippingStage;
beforeAll(async () => {
  stage = await openSkippingStage();
});
afterAll(() => stage?.close());

const send = (respond: Respond) => stage.send(respond, TARGET);

async function deliveryOf({ webhook }: Sent): Promise<DeliveryRow | undefined> {
  const [row] = await stage.rows.deliveries(webhook);
  return row;
}

async function historyOf({ handle }: Sent): Promise<string> {
  return historyToJson(await handle.fetchHistory());
}

function expectNoSecretIn(history: string): void {
  const text = readableText(history);
  expect(text).toContain('127.0.0.1');
  for (const secret of SECRETS) expect(text).not.toContain(secret);
}

/** Echoes everything that it received, like some servers do with invalid requests. */
const echoing: Respond = ({ headers, raw }, response, { url }) => {
  response.writeHead(503).end(`${JSON.stringify(headers)} ${raw.toString()} ${url} ${TEST_SECRET}`);
};

test('answered 503 for 8 h 36 min, an event is sent six times unchanged; the webhook is disabled and its owner notified', async () => {
  const sent = await send(async (request, response, incoming) => {
    // Longer than the heartbeat timeout of a worker.
    if (request.headers['x-delivery-attempt'] === '3') await delay(6_000);
    await echoing(request, response, incoming);
  });
  const { receiver, webhook, handle } = sent;
  const before = stage.mails.length;
  expect(await handle.result()).toEqual({ state: 'failed' });

  const { received } = receiver;
  expect(received.map(({ headers }) => headers['x-delivery-attempt'])).toEqual(['1', '2', '3', '4', '5', '6']);
  const eventId = publicId('event', sent.row.event_id);
  const signature = `sha256=${createHmac('sha256', TEST_SECRET)
    .update(received[0]?.raw ?? '')
    .digest('hex')}`;
  for (const { raw, headers } of received) {
    expect(raw).toEqual(received[0]?.raw);
    expect(headers).toMatchObject({ 'x-event-id': eventId, 'webhook-id': eventId, 'x-signature': signature });
    expect(headers['x-opens-it']).toBe(HEADER);
    new Webhook(TEST_SECRET).verify(raw.toString(), {
      'webhook-id': String(headers['webhook-id']),
      'webhook-timestamp': String(headers['webhook-timestamp']),
      'webhook-signature': String(headers['webhook-signature']),
    });
  }

  expect(await deliveryOf(sent)).toMatchObject({ status: 'failed', attempts_made: 6, next_attempt_at: null });
  expect((await deliveryOf(sent))?.attempts.map(({ attempt, error }) => [attempt, error])).toEqual(
    [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'HTTP 503']),
  );
  expect(await stage.rows.read(webhook)).toMatchObject({ status: 'disabled', consecutive_failures: 6 });
  const notifications = await stage.rows.notifications(webhook);
  expect(notifications).toEqual([expect.objectContaining({ type: 'webhook.disabled', email_error: null })]);
  expect(stage.mails.slice(before).map(({ to }) => to)).toEqual(['owner@localhost']);

  const history = await historyOf(sent);
  expectNoSecretIn(history);
  expect(eventsOf(history, 'WORKFLOW_EXECUTION_STARTED')[0]?.summary).toBe(
    `prompt.created to ${new URL(receiver.url).host}`,
  );
  const attempts = eventsOf(history, 'ACTIVITY_TASK_SCHEDULED').filter(
    ({ activity }) => activity === 'attemptDelivery',
  );
  // The relay makes the first attempt; the workflow starts with the first wait.
  expect(attempts).toHaveLength(5);
  const [started] = eventsOf(history, 'WORKFLOW_EXECUTION_STARTED');
  const took = (attempts.at(-1)?.timeMs ?? 0) - (started?.timeMs ?? 0);
  expect(Math.floor(took / 60_000)).toBe(8 * 60 + 36);
});

test('however it fails, no secret gets into the history, and a good answer ends it', async () => {
  const leak = `${PATH} ${QUERY} ${HEADER} ${TEST_SECRET}`;
  const ways: Respond[] = [
    (_request, response) => void response.writeHead(302, { Location: `/${PATH}?key=${QUERY}` }).end(leak),
    (_request, response) => void response.destroy(),
    (_request, response) => void response.socket?.end(`HTTP/1.1 2OO ${leak}\r\n\r\n`),
    (_request, response) => {
      response.writeHead(200, { 'Content-Length': '1000' }).write(leak);
      setImmediate(() => response.destroy());
    },
    (_request, response) => void response.writeHead(500, leak, { 'X-Leak': leak }).end(leak),
    answering(204),
  ];
  const sent = await send((request, ...rest) =>
    ways[Number(request.headers['x-delivery-attempt']) - 1]?.(request, ...rest),
  );
  expect(await sent.handle.result()).toEqual({ state: 'delivered' });
  expect(sent.receiver.received).toHaveLength(6);
  expect(await deliveryOf(sent)).toMatchObject({ status: 'delivered', status_reason: null, attempts_made: 6 });
  expect(await stage.rows.read(sent.webhook)).toMatchObject({ status: 'enabled', consecutive_failures: 0 });
  expectNoSecretIn(await historyOf(sent));
});

test('a delivery ended in the database while it waits is not sent again', async () => {
  const sent = await send(answering(503));
  const { workspace_id: workspaceId } = await stage.rows.read(sent.webhook);
  await stage.db.system.transaction((query) =>
    abandonDeliveries(bindWorkspace(query, String(workspaceId)), sent.webhook, 'The webhook was deleted.'),
  );
  expect(await sent.inRealTime.result()).toEqual({ state: 'abandoned' });
  expect(sent.receiver.received).toHaveLength(1);
  expect(await deliveryOf(sent)).toMatchObject({ status: 'abandoned', status_reason: 'The webhook was deleted.' });
  expectNoSecretIn(await historyOf(sent));
});

test('canceled by an operator while it waits, a delivery is abandoned and says why', async () => {
  const sent = await send(answering(503));
  await sent.handle.cancel();
  await expect(sent.inRealTime.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) });
  expect((await sent.handle.describe()).status.name).toBe('CANCELLED');
  expect(sent.receiver.received).toHaveLength(1);
  expect(await deliveryOf(sent)).toMatchObject({
    status: 'abandoned',
    status_reason: 'Its workflow was canceled.',
    attempts_made: 1,
    next_attempt_at: null,
  });
});

test.each([
  [503, 'CANCELLED', { status: 'abandoned', status_reason: 'Its workflow was canceled.' }],
  [200, 'COMPLETED', { status: 'delivered', status_reason: null }],
])('canceled during an attempt that is answered %d, a delivery says both', async (answer, endsAs, delivery) => {
  const canceled = Promise.withResolvers<void>();
  const sent = await send(async (request, response) => {
    if (request.headers['x-delivery-attempt'] === '1') {
      response.writeHead(503).end();
      return;
    }
    await canceled.promise;
    response.writeHead(answer).end();
  });
  // Waiting for the result skips the wait before the second attempt.
  const ended = sent.handle.result().catch(() => {});
  await sent.receiver.got(2);
  await cancelAttempt(sent.inRealTime);
  canceled.resolve();
  await ended;
  expect((await sent.handle.describe()).status.name).toBe(endsAs);
  expect(await deliveryOf(sent)).toMatchObject({
    ...delivery,
    attempts: [{ status: 503 }, { attempt: 2, status: answer }],
  });
});
