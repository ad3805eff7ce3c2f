import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publicId } from '../../src/domain/ids.ts';
import { dispatchEvents } from '../../src/jobs/dispatch-events.ts';
import { beginFirstAttempts, type RelayDeps } from '../../src/jobs/relay-steps.ts';
import { createOtherWorkspace } from '../api/workspace.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** `RELAY_BACKLOG=200000` for measuring. */
const BACKLOG = Number(process.env['RELAY_BACKLOG'] ?? 5_000);
const OF_OTHER = 5;

let service: TestService;
let deps: RelayDeps;
let saturated: string[] = [];

beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW_PRIVATE: 'true' }, { workers: false });
  const { db, client, taskQueues, log } = service.dependencies;
  deps = {
    db,
    starter: { client, taskQueues, eager: false, retryWaitsMs: [] },
    log,
    // Claimed events stay claimed.
    firstAttempts: { begin: () => {}, isFull: () => false, saturated: () => [], stop: async () => {} },
    saturated: () => saturated,
  };
  const other = await createOtherWorkspace(service, 'other');
  for (const call of [service.call, other.call]) {
    const { status } = await call('POST', '/webhooks', {
      body: { url: 'http://127.0.0.1:59999/', events: ['prompt.created'] },
    });
    expect(status).toBe(201);
  }
  // One workspace was first, and has very many.
  for (const [name, count] of [
    ['default', BACKLOG],
    ['other', OF_OTHER],
  ])
    await db.system.query(
      {
        text: `insert into events (workspace_id, id, type, data, created_at)
               select w.id, uuidv7(), 'prompt.created', '{}', now() from workspaces w, generate_series(1, $2::int) where w.name = $1`,
      },
      [name, count],
    );
  await db.system.query({ text: 'analyze events' });
});

afterAll(() => service?.stop());

async function countBy(condition: string): Promise<Record<string, number>> {
  const rows = await deps.db.system.query<{ name: string; count: number }>({
    text: `select w.name, count(*)::int as count from ${condition} group by w.name`,
  });
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  if (process.env['RELAY_BACKLOG'] !== undefined) console.info(what, Math.round(performance.now() - begun), 'ms');
  return result;
}

test('a workspace with few events does not wait for one with very many', async () => {
  const dispatched = () =>
    countBy('events e join workspaces w on w.id = e.workspace_id where dispatched_at is not null');
  expect(await timed('first dispatch', () => dispatchEvents(deps))).toEqual({ more: true, madeAny: true });
  expect(await dispatched()).toEqual({ default: 10, other: OF_OTHER });
  await timed('next dispatch', () => dispatchEvents(deps));
  expect(await dispatched()).toEqual({ default: 20, other: OF_OTHER });
});

/**
 * Event rows that PostgreSQL reads for a dispatch, which is rolled back. @param prepare statements to run first, which are
 * rolled back, too
 */
async function readByDispatch(prepare: string[]): Promise<{ sequence: number; index: number }> {
  const undone = new Error('undone');
  const read = { sequence: Number.NaN, index: Number.NaN };
  const work = deps.db.system.transaction(async (query) => {
    const readSoFar = async () => {
      const [row] = await query<{ sequence: number; index: number }>({
        text: `select seq_tup_read::int as sequence, idx_tup_fetch::int as index
               from pg_stat_xact_user_tables where relname = 'events'`,
      });
      return row ?? read;
    };
    for (const text of prepare) await query({ text });
    const before = await readSoFar();
    await dispatchEvents({ db: { ...deps.db, system: { ...deps.db.system, query } } });
    const after = await readSoFar();
    read.sequence = after.sequence - before.sequence;
    read.index = after.index - before.index;
    throw undone;
  });
  await expect(work).rejects.toBe(undone);
  return read;
}

test.each([
  ['two workspaces', []],
  [
    'one',
    ["delete from events where workspace_id <> (select id from workspaces where name = 'default')", 'analyze events'],
  ],
])('statistics of a backlog of %s do not make the relay read the whole table', async (_, prepare) => {
  const read = await readByDispatch(prepare);
  expect(read.sequence).toBe(0);
  // A few for each of the ten that are taken.
  expect(read.index).toBeLessThan(100);
});

test('a workspace with few deliveries does not wait for one with very many', async () => {
  for (let count = 0; count < Math.min(40, BACKLOG / 10 - 2); count += 1) await dispatchEvents(deps);
  const claimed = () => countBy('deliveries d join workspaces w on w.id = d.workspace_id where claimed_at is not null');
  expect(await timed('first claim', () => beginFirstAttempts(deps, true))).toBe(true);
  expect(await claimed()).toEqual({ default: 10, other: OF_OTHER });
});

test('requested deliveries precede a replay of the same workspace, and a replay alternates with other workspaces', async () => {
  const { query } = deps.db.system;
  await query({ text: `update deliveries set trigger = 'replay' where claimed_at is null` });
  await query({
    text: `insert into deliveries (workspace_id, id, event_id, webhook_id, trigger, status, created_at)
           select workspace_id, uuidv7(), event_id, webhook_id, 'redelivery', 'queued', now() from deliveries
           where claimed_at is not null and workspace_id = (select id from workspaces where name = 'default') limit 3`,
  });
  await beginFirstAttempts(deps, true);
  const [row] = await query<{ redelivered: number; replayed: number }>({
    text: `select count(*) filter (where trigger = 'redelivery')::int as redelivered,
             count(*) filter (where trigger = 'replay')::int as replayed from deliveries where claimed_at is not null`,
  });
  expect(row).toEqual({ redelivered: 3, replayed: 7 });
});

test('a workspace with enough in flight does not block the others', async () => {
  const { query } = deps.db.system;
  const [{ id } = { id: '' }] = await query<{ id: string }>({
    text: `select id from workspaces where name = 'default'`,
  });
  const count = async () => (await query({ text: 'select from deliveries where claimed_at is not null' })).length;
  const before = await count();
  saturated = [publicId('workspace', id)];
  expect(await beginFirstAttempts(deps, true)).toBe(false);
  expect(await count()).toBe(before);
  saturated = [];
  await beginFirstAttempts(deps, true);
  expect(await count()).toBe(before + 10);
});
