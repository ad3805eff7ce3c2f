import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { addBacklogMetrics } from '../../../src/services/operations/backlog-metrics.ts';
import { addDatabaseMetrics } from '../../../src/services/operations/database-metrics.ts';
import { createTestDatabase } from '../../support/database.ts';
import { parseExposition } from '../../support/exposition.ts';
import { freePorts } from '../../support/processes.ts';
import { seedEvaluation, seedExecutions } from '../../support/seed-rows.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 3 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => db.system.query({ text: 'truncate executions, evaluations cascade' }));

async function scrape(from: Database): Promise<Record<string, number>> {
  const registry = new Registry();
  addDatabaseMetrics(registry, from);
  addBacklogMetrics(registry, from);
  const series = parseExposition(await registry.metrics());
  return Object.fromEntries(
    series.map(({ name, labels, value }) => [[name, ...Object.values(labels)].join(' '), value]),
  );
}

/** Sets executions to a state, with the time that they have been in it. */
async function executionsIn(status: string, count: number, ageSeconds: number): Promise<void> {
  await seedExecutions(db.system.query, { workspaceId: newId(), count, days: 1 });
  await db.system.transaction(async (query) => {
    await query({ text: "set local session_replication_role = 'replica'" });
    await query({
      text: `update executions set status = '${status}', finished_at = null, created_at = now() - interval '${ageSeconds} seconds'
             where status not in ('queued', 'running')`,
    });
  });
}

test('an empty backlog has no waits', async () => {
  expect(await scrape(db)).toMatchObject({
    'pms_executions_unfinished queued': 0,
    'pms_oldest_execution_age_seconds queued': 0,
    'pms_evaluations_unfinished paused': 0,
    'pms_oldest_provider_batch_age_seconds unknown': 0,
    'pms_out_of_budget evaluation': 0,
    pms_database_up: 1,
  });
});

test('executions are counted by state, with the age of the oldest', async () => {
  await executionsIn('queued', 3, 500);
  await executionsIn('running', 2, 40);
  const now = await scrape(db);
  expect(now).toMatchObject({ 'pms_executions_unfinished queued': 3, 'pms_executions_unfinished running': 2 });
  expect(now['pms_oldest_execution_age_seconds queued']).toBeGreaterThanOrEqual(500);
  expect(now['pms_oldest_execution_age_seconds queued']).toBeLessThan(700);
  expect(now['pms_oldest_execution_age_seconds running']).toBeLessThan(500);
});

test('an evaluation planned for later is not late; one out of budget differs from one paused by request', async () => {
  const seed = { workspaceId: newId(), count: 1, days: 1 };
  const ids = [];
  for (let count = 0; count < 4; count += 1) ids.push(await seedEvaluation(db.system.query, seed));
  const set = (id: string | undefined, status: string, others: string) =>
    db.system.transaction(async (query) => {
      await query({ text: "set local session_replication_role = 'replica'" });
      await query({
        text: `update evaluations set status = '${status}', finished_at = null, ${others} where id = '${id}'`,
      });
    });
  await set(ids[0], 'scheduled', "start_at = now() + interval '1 day'");
  await set(ids[1], 'paused', "status_reason = 'paused by request'");
  await set(ids[2], 'paused', "status_reason = 'of max_cost, 2 USD, too little is left for another example'");
  expect(await scrape(db)).toMatchObject({
    'pms_evaluations_unfinished scheduled': 1,
    'pms_evaluations_unfinished paused': 2,
    'pms_oldest_evaluation_age_seconds scheduled': 0,
    'pms_out_of_budget evaluation': 1,
  });
  await set(ids[3], 'scheduled', "start_at = now() - interval '700 seconds'");
  const { 'pms_oldest_evaluation_age_seconds scheduled': age } = await scrape(db);
  expect(age).toBeGreaterThanOrEqual(700);
});

test('a workspace with a huge queue makes a scrape no longer than the counting limit', async () => {
  await db.system.transaction(
    async (query) => {
      await query({ text: "set local session_replication_role = 'replica'" });
      await query({
        text: `insert into executions (id, workspace_id, model, provider, parameters, variables, metadata, status, created_at)
             select gen_random_uuid(), '${newId()}', 'sandbox/echo', 'sandbox', '{}', '{}', '{}', 'queued', now()
             from generate_series(1, 100500)`,
      });
    },
    { statementTimeoutMs: 0 },
  );
  await db.system.query({ text: 'analyze executions' });
  expect(await scrape(db)).toMatchObject({ 'pms_executions_unfinished queued': 100_000 });
  const plan = await db.system.query<{ 'QUERY PLAN': string }>({
    text: `explain select status, created_at from executions where status in ('queued', 'running') order by check_at limit 100000`,
  });
  expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('executions_check_index');
});

test('without the database a scrape succeeds: it says so, and values from there are unknown', async () => {
  const [port] = await freePorts(1);
  const away = await openDatabase(`postgresql://pms@127.0.0.1:${port}/pms`, { poolSize: 2 });
  try {
    expect(await scrape(away)).toMatchObject({
      pms_database_up: 0,
      pms_database_ping_seconds: Number.NaN,
      pms_database_size_bytes: Number.NaN,
      'pms_database_pool_max main': 2,
      'pms_executions_unfinished queued': Number.NaN,
      'pms_out_of_budget backfill': Number.NaN,
    });
  } finally {
    await away.close();
  }
});
