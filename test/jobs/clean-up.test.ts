import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expiredBy } from '../../src/capabilities.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { newId } from '../../src/domain/ids.ts';
import { cleanUp } from '../../src/jobs/clean-up.ts';
import { createTestDatabase } from '../support/database.ts';
import { type HousekeepingRows, housekeepingRows } from './housekeeping-rows.ts';

const RETENTION = expiredBy({ events: 30 * 24 * 60 * 60_000 });

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let rows: HousekeepingRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  rows = await housekeepingRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

describe('events', () => {
  test('expire after the retention, with deliveries and attempts, but not younger ones', async () => {
    const [old, tried, young] = [
      await rows.event({ ageDays: 31 }),
      await rows.event({ ageDays: 31, test: true }),
      await rows.event({ ageDays: 29 }),
    ];
    const deliveries = [
      await rows.delivery(old),
      await rows.delivery(old, { trigger: 'redelivery', status: 'failed' }),
      await rows.delivery(tried, { trigger: 'test', status: 'abandoned' }),
      await rows.delivery(young),
    ];
    await cleanUp(db.system, RETENTION);
    expect(await rows.present('events', [old, tried, young])).toEqual([false, false, true]);
    expect(await rows.present('deliveries', deliveries)).toEqual([false, false, false, true]);
    expect(await rows.present('delivery_attempts', deliveries)).toEqual([false, false, false, true]);
  });

  test('stay if undispatched, or if a delivery has not ended or is still to be notified', async () => {
    const undispatched = await rows.event({ ageDays: 90, dispatched: false });
    const pending: string[] = [];
    for (const delivery of [{ status: 'queued' }, { status: 'waiting' }, { status: 'abandoned', toEnd: true }]) {
      const event = await rows.event({ ageDays: 90 });
      await rows.delivery(event);
      await rows.delivery(event, { trigger: 'replay', ...delivery });
      pending.push(event);
    }
    await cleanUp(db.system, RETENTION);
    expect(await rows.present('events', [undispatched, ...pending])).toEqual([true, true, true, true]);
    await db.system.query({ text: `update deliveries set status = 'delivered', to_end = false` });
    await cleanUp(db.system, RETENTION);
    expect(await rows.present('events', [undispatched, ...pending])).toEqual([true, false, false, false]);
  });

  test('expire in many batches, past those that stay, even in several processes', async () => {
    await db.system.query(
      {
        text: `insert into events (workspace_id, id, type, data, created_at, dispatched_at)
               select $1, ('01900000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, 'prompt.created', '{}', made,
                 case when n % 2 = 0 then made end
               from generate_series(1, 9000) n, (select now() - interval '60 days' as made)`,
      },
      [rows.workspaceId],
    );
    await Promise.all([cleanUp(db.system, RETENTION), cleanUp(db.system, RETENTION)]);
    await cleanUp(db.system, RETENTION);
    const left = await db.system.query({
      text: `select count(*)::int as count, count(dispatched_at)::int as dispatched from events
             where created_at < now() - interval '59 days' and created_at > now() - interval '61 days'`,
    });
    expect(left).toEqual([{ count: 4_500, dispatched: 0 }]);
  });

  test('stay while another delivery is being requested', async () => {
    const event = await rows.event({ ageDays: 31 });
    await db.system.transaction(async (query) => {
      await query({ text: 'select from events where id = $1 for key share' }, [event]);
      await cleanUp(db.system, RETENTION);
    });
    expect(await rows.present('events', [event])).toEqual([true]);
  });
});

test('notifications expire by retention', async () => {
  const ids = [await rows.notification({ ageDays: 31 }), await rows.notification({ ageDays: 29 })];
  await cleanUp(db.system, RETENTION);
  expect(await rows.present('notifications', ids)).toEqual([false, true]);
});

test('idempotency keys last 24 hours', async () => {
  for (const [key, hours] of [
    ['old', 25],
    ['young', 23],
  ])
    await db.system.query(
      {
        text: `insert into idempotency_keys (workspace_id, id, key, request_hash, resource_id, created_at)
               values ($1, $2, $3, '', '', now() - make_interval(hours => $4))`,
      },
      [rows.workspaceId, newId(), key, hours],
    );
  await cleanUp(db.system, RETENTION);
  expect(await db.system.query({ text: 'select key from idempotency_keys' })).toEqual([{ key: 'young' }]);
});

test('occurrences of schedules last a week', async () => {
  const schedule = newId();
  await db.system.query(
    {
      text: `insert into schedules (workspace_id, id, name, cron, time_zone, request, created_at)
             values ($1, $2, 'nightly', '0 3 * * *', 'UTC', '{}', now())`,
    },
    [rows.workspaceId, schedule],
  );
  for (const days of [8, 6])
    await db.system.query(
      {
        text: `insert into schedule_occurrences (workspace_id, schedule_id, workflow_id, evaluation_id, created_at)
               values ($1, $2, $3, gen_random_uuid(), now() - make_interval(days => $4))`,
      },
      [rows.workspaceId, schedule, `${days} days old`, days],
    );
  await cleanUp(db.system, RETENTION);
  expect(await db.system.query({ text: 'select workflow_id from schedule_occurrences' })).toEqual([
    { workflow_id: '6 days old' },
  ]);
});
