import { afterAll, expect, test } from '@jest/globals';
import { publicId } from '../../src/domain/ids.ts';
import { createScene, expectRecorded, holding, type WebhookStage } from '../support/fault-webhooks.ts';
import { answering } from '../support/receiver.ts';
import { until } from '../support/wait-for.ts';

const scene = createScene();
afterAll(() => scene.end());

/** Waits until relays have dealt with every event. */
async function untilDispatched(stage: WebhookStage): Promise<void> {
  await until('every event is dispatched', async () => {
    const left = await stage.query({ text: 'select from events where dispatched_at is null limit 1' });
    return left.length === 0;
  });
}

test.concurrent('one of twenty deliveries that fail together disables the webhook, and nothing more is sent', async () => {
  const together = 20;
  const stage = await scene.stage({
    WEBHOOK_RETRY_WAITS: '1s',
    WEBHOOK_TIMEOUT: '60s',
    WEBHOOK_HOST_CONCURRENCY: '50',
  });
  await Promise.all([stage.startWorker(), stage.startWorker()]);
  const receiver = await scene.receiver(answering(500));
  const webhook = await stage.rows.webhook({ url: receiver.url });
  const last = holding(500);
  const others = holding(500);
  receiver.respond = (request, ...rest) =>
    request.headers['x-delivery-attempt'] === '1' ? answering(500)(request, ...rest) : last.respond(request, ...rest);
  await stage.rows.events(together);
  await until('all have begun their last attempt', async () => last.held() === together);
  receiver.respond = others.respond;
  await stage.rows.events(5);
  await until('others are under way', async () => others.held() === 5);
  last.release();
  await stage.untilStatus(webhook, 'abandoned', 5);
  others.release();
  await stage.untilEnded(webhook, together + 5);

  const deliveries = await stage.rows.deliveries(webhook);
  expect(deliveries.map(({ status }) => status)).toEqual([
    ...Array.from({ length: together }, () => 'failed'),
    ...Array.from({ length: 5 }, () => 'abandoned'),
  ]);
  expectRecorded(receiver.received, deliveries);
  expect(receiver.received).toHaveLength(2 * together + 5);
  expect(await stage.rows.read(webhook)).toMatchObject({ status: 'disabled' });
  expect(await stage.rows.notifications(webhook)).toMatchObject([{ type: 'webhook.disabled' }]);
  await stage.rows.events(5);
  await untilDispatched(stage);
  expect(await stage.rows.deliveries(webhook)).toHaveLength(together + 5);
});

test.concurrent('deliveries of webhooks disabled and deleted while no worker runs end without another request', async () => {
  const stage = await scene.stage({ WEBHOOK_RETRY_WAITS: '10m', WEBHOOK_TIMEOUT: '60s' });
  const [worker] = await Promise.all([stage.startWorker(), stage.startApi()]);
  const endings = [
    { what: 'disabled', method: 'POST', action: '/disable' },
    { what: 'deleted', method: 'DELETE', action: '' },
  ];
  const ended = await Promise.all(
    endings.map(async (ending) => {
      const receiver = await scene.receiver(answering(500));
      return { ...ending, hold: holding(), receiver, webhook: await stage.rows.webhook({ url: receiver.url }) };
    }),
  );
  await stage.rows.events(5);
  for (const { webhook } of ended) await stage.untilStatus(webhook, 'waiting', 5);
  for (const { receiver, hold } of ended) receiver.respond = hold.respond;
  await stage.rows.events(5);
  await until('attempts are under way', async () => ended.every(({ hold }) => hold.held() === 5));
  await worker.killTree();
  await stage.rows.events(5);
  for (const { webhook, method, action } of ended) {
    const { status } = await stage.call(method, `/webhooks/${publicId('webhook', webhook)}${action}`);
    expect(status).toBe(200);
  }
  await stage.startWorker();
  for (const { webhook } of ended) await stage.untilEnded(webhook, 10);
  await untilDispatched(stage);
  for (const { what, webhook, receiver } of ended) {
    const deliveries = await stage.rows.deliveries(webhook);
    expect(deliveries.map((row) => [row.status, row.status_reason, row.to_end])).toEqual(
      Array.from({ length: 10 }, () => ['abandoned', `The webhook was ${what}.`, false]),
    );
    expect(receiver.received).toHaveLength(10);
    expect(await stage.rows.notifications(webhook)).toEqual([]);
  }
});
