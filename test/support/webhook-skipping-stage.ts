import { randomBytes } from 'node:crypto';
import { Client, type WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createWebhookActivities } from '../../src/activities/webhook-delivery/webhook.ts';
import { parseSettings } from '../../src/config.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { openListener } from '../../src/db/listener.ts';
import { createCipher } from '../../src/domain/cipher.ts';
import { startRelay } from '../../src/jobs/relay.ts';
import { createByteBudget } from '../../src/lib/byte-budget.ts';
import type { Mail } from '../../src/mail/mailer.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { generateApiKey } from '../../src/services/access/api-keys.ts';
import { createAttemptMaker } from '../../src/services/webhooks/deliveries/make-attempt.ts';
import { createWebhookMetrics } from '../../src/services/webhooks/webhook-metrics.ts';
import { ensureFirstKey } from '../../src/services/workspaces/bootstrap.ts';
import { deliveryWorkflowId, SEARCH_ATTRIBUTES, taskQueuesOf } from '../../src/temporal/names.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { createTestDatabase } from './database.ts';
import { type Receiver, type Respond, startReceiver } from './receiver.ts';
import { testSlots } from './slots.ts';
import { startTimeSkipping } from './time-skipping.ts';
import { type DeliveryRow, type WebhookRows, webhookRows } from './webhook-rows.ts';

/** An event on its way to a receiver. */
export interface Sent {
  receiver: Receiver;
  webhook: string;
  row: DeliveryRow;
  /** Waiting for its result skips time. */
  handle: WorkflowHandle;
  /** Waiting for its result does not. */
  inRealTime: WorkflowHandle;
}

/** Relay, workflow and activities of the service, on a time-skipping Temporal. Only the mail server is a stand-in. */
export interface SkippingStage {
  db: Database;
  rows: WebhookRows;
  mails: Mail[];
  /**
   * Sends an event to one receiver, whose first attempt fails. Time stands still until the workflow is awaited.
   * @param path of the receiver, with its query
   */
  send(respond: Respond, target: { path: string; headers: Record<string, string> }): Promise<Sent>;
  close(): Promise<void>;
}

/** That server can't list existing attributes, which is how the service finds missing ones. */
async function addSearchAttributes({ connection }: TestWorkflowEnvironment): Promise<void> {
  const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;
  const searchAttributes = Object.fromEntries(
    Object.values(SEARCH_ATTRIBUTES).map(({ name }) => [name, INDEXED_VALUE_TYPE_KEYWORD]),
  );
  await connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });
}

/** With the settings as they are by default. */
export async function openSkippingStage(): Promise<SkippingStage> {
  const closing: (() => unknown)[] = [];
  const temporal = await startTimeSkipping();
  closing.push(() => temporal.teardown());
  await addSearchAttributes(temporal);

  const database = await createTestDatabase();
  closing.push(() => database.drop());
  const db = await openDatabase(database.url, { poolSize: 5 });
  closing.push(() => db.close());
  await ensureFirstKey(db, generateApiKey());
  const cipher = createCipher([randomBytes(32)]);
  const rows = webhookRows(db, cipher);

  const log = pino({ level: 'silent' });
  const listener = openListener(database.url, log);
  closing.push(() => listener.close());
  const { webhooks } = parseSettings({});
  const outbound = createOutbound({ allowPrivate: 'loopback', timeoutMs: webhooks.timeoutMs });
  closing.push(() => outbound.close());
  const taskQueues = taskQueuesOf('skipping');
  const mails: Mail[] = [];
  const attempts = createAttemptMaker({
    db,
    cipher,
    outbound,
    webhookMetrics: createWebhookMetrics(new Registry(), db),
    memory: createByteBudget(0.1),
  });
  const slots = testSlots({ hostConcurrency: 5 });
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    workflowBundle: await workflowBundle(),
    taskQueue: taskQueues.webhooks,
    activities: createWebhookActivities({
      db,
      attempts,
      slots,
      mailer: { send: async (mail) => void mails.push(mail), close: () => {} },
    }),
    maxHeartbeatThrottleInterval: '1 second',
  });
  const running = worker.run();
  closing.push(async () => {
    worker.shutdown();
    await running;
  });
  const { client } = temporal;
  const starter = { client, taskQueues, eager: false, retryWaitsMs: webhooks.retryWaitsMs };
  const relay = startRelay({
    db,
    listener,
    log,
    starter,
    attempts,
    slots,
    graceOver: new AbortController().signal,
  });
  closing.push(() => relay.stop());

  return {
    db,
    rows,
    mails,
    async send(respond, { path, headers }) {
      await db.system.query({ text: `update webhooks set status = 'disabled'` });
      const receiver = await startReceiver(respond);
      closing.push(() => receiver.close());
      const webhook = await rows.webhook({ url: new URL(path, receiver.url).href, headers });
      const eventId = await rows.event();
      const [row] = await rows.started(webhook);
      if (row === undefined) throw new Error('There is no delivery.');
      const id = deliveryWorkflowId({ id: row.id, eventId, webhookId: webhook, trigger: 'event' });
      const inRealTime = new Client({ connection: temporal.connection }).workflow.getHandle(id);
      return { receiver, webhook, row, handle: client.workflow.getHandle(id), inRealTime };
    },
    async close() {
      for (const close of closing.reverse()) await close();
    },
  };
}
