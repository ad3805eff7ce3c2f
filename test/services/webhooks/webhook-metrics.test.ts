import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { createWebhookMetrics } from '../../../src/services/webhooks/webhook-metrics.ts';
import { type HousekeepingRows, housekeepingRows } from '../../jobs/housekeeping-rows.ts';
import { createTestDatabase } from '../../support/database.ts';
import { freePorts } from '../../support/processes.ts';
import { waitFor } from '../../support/wait-for.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let rows: HousekeepingRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 3 });
  rows = await housekeepingRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => db.system.query({ text: 'truncate events, deliveries, delivery_attempts, webhooks' }));

/** A scrape, by name and labels. */
async function scrape(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ')).replace('Nan', 'NaN')),
    ]),
  );
}

const GAUGES = [
  'pms_webhook_deliveries_waiting{status="queued"}',
  'pms_webhook_deliveries_waiting{status="waiting"}',
  'pms_webhooks_disabled',
  'pms_oldest_undelivered_event_age_seconds',
];

async function gauges(from: Database): Promise<(number | undefined)[]> {
  const registry = new Registry();
  createWebhookMetrics(registry, from);
  const all = await scrape(registry);
  return GAUGES.map((name) => all[name]);
}

test('attempts, deliveries and disabled webhooks are counted, from 0 on', async () => {
  const registry = new Registry();
  const metrics = createWebhookMetrics(registry, db);
  expect(await scrape(registry)).toMatchObject({
    'pms_webhook_attempts_total{outcome="succeeded"}': 0,
    'pms_webhook_attempts_total{outcome="failed"}': 0,
    'pms_webhook_deliveries_total{outcome="abandoned"}': 0,
    pms_webhooks_disabled_total: 0,
  });
  metrics.attempted('failed', 10_000);
  metrics.attempted('succeeded', 40);
  metrics.attempted('succeeded', 60);
  metrics.ended('delivered');
  metrics.ended('failed');
  metrics.disabled();
  expect(await scrape(registry)).toMatchObject({
    'pms_webhook_attempts_total{outcome="succeeded"}': 2,
    'pms_webhook_attempts_total{outcome="failed"}': 1,
    'pms_webhook_deliveries_total{outcome="delivered"}': 1,
    'pms_webhook_deliveries_total{outcome="failed"}': 1,
    pms_webhooks_disabled_total: 1,
    'pms_webhook_attempt_seconds_bucket{le="0.05"}': 1,
    'pms_webhook_attempt_seconds_bucket{le="0.1"}': 2,
    pms_webhook_attempt_seconds_sum: 10.1,
    pms_webhook_attempt_seconds_count: 3,
  });
});

test('workers restarted in a process count from zero', async () => {
  const registry = new Registry();
  createWebhookMetrics(registry, db).disabled();
  createWebhookMetrics(registry, db).disabled();
  expect(await scrape(registry)).toMatchObject({ pms_webhooks_disabled_total: 1 });
});

test('an empty queue has no waits', async () => {
  await rows.delivery(await rows.event({ ageDays: 2 }));
  await rows.webhook();
  expect(await gauges(db)).toEqual([0, 0, 0, 0]);
});

test('waiting and disabled counts and the age of the oldest event are from the database', async () => {
  for (const status of ['queued', 'waiting', 'waiting', 'delivered', 'failed', 'abandoned'])
    await rows.delivery(await rows.event({ ageDays: 1 }), { status });
  await rows.delivery(await rows.event({ ageDays: 2 }), { status: 'waiting' });
  await rows.webhook({ disabled: true });
  await rows.webhook();
  const [queued, waiting, disabled, age = 0] = await gauges(db);
  expect([queued, waiting, disabled]).toEqual([1, 3, 1]);
  expect(Math.round(age / 86_400)).toBe(2);
});

test('an event without deliveries counts until it has some', async () => {
  await rows.delivery(await rows.event({ ageDays: 1 }), { status: 'queued' });
  await rows.event({ ageDays: 3, dispatched: false });
  const [, , , age = 0] = await gauges(db);
  expect(Math.round(age / 86_400)).toBe(3);
});

test('an old event sent again is not late', async () => {
  const event = await rows.event({ ageDays: 20 });
  for (const trigger of ['redelivery', 'replay']) await rows.delivery(event, { status: 'queued', trigger });
  expect(await gauges(db)).toEqual([2, 0, 0, 0]);
});

const UNKNOWN = GAUGES.map(() => Number.NaN);

test('without the database a scrape succeeds, and values from it are unknown', async () => {
  const [port] = await freePorts(1);
  const away = await openDatabase(`postgresql://pms@127.0.0.1:${port}/pms`, { poolSize: 2 });
  try {
    expect(await gauges(away)).toEqual(UNKNOWN);
  } finally {
    await away.close();
  }
});

test('a database that never answers does not block a scrape', async () => {
  const silent = createServer((socket) => {
    socket.on('error', () => {});
    // Must be read, or its end is never detected.
    socket.resume();
  });
  const [port] = await freePorts(1);
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
  const away = await openDatabase(`postgresql://pms@127.0.0.1:${port}/pms`, { poolSize: 2 });
  try {
    expect(await gauges(away)).toEqual(UNKNOWN);
  } finally {
    silent.close();
    await away.close();
  }
});

test('a statement that takes too long is ended, and the gauges recover', async () => {
  const registry = new Registry();
  createWebhookMetrics(registry, db);
  await db.system.transaction(async (query) => {
    await query({ text: 'lock table deliveries' });
    expect(await scrape(registry)).toMatchObject({ pms_webhooks_disabled: Number.NaN });
  });
  await waitFor('the gauges', async () => {
    const all = await scrape(registry);
    return GAUGES.every((name) => all[name] === 0);
  });
});
