import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import type { ExecutionActivities } from '../../src/activities/execute-prompt/execution.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres/postgres.ts';
import type { ClosableModels } from '../../src/models/model.ts';
import { testExecutionActivities } from '../support/execution-activities.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';
import { modelsAt } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { until } from '../support/wait-for.ts';

const stopping = new AbortController();
let folder: string;
let postgres: EmbeddedPostgres;
let db: Database;
let openai: StandIn;
let models: ClosableModels;
let rows: ExecutionRows;
let activities: ExecutionActivities;

/** A separate PostgreSQL for this file, which comes back on the same port. */
const start = (): Promise<EmbeddedPostgres> =>
  startPostgres({ dataDir: path.join(folder, 'postgres'), settings: { fsync: 'off' }, log: () => {} });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pms-outage-'));
  postgres = await start();
  await migrate(postgres.url('pms'));
  db = await openDatabase(postgres.url('pms'), { poolSize: 5 });
  openai = await startOpenAiServer({ latencyMs: 300 });
  models = modelsAt({ openai: openai.baseUrl });
  rows = await executionRows(db);
  activities = testExecutionActivities({ db, models, stopping: stopping.signal, claimWithinMs: 3_000 });
});
afterAll(async () => {
  await models?.close();
  await openai?.close();
  await db?.close();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

const callModel = (id: string) => activities.callModel(id, 'ws_test', 100);

const attempt = (id: string) => new MockActivityEnvironment().run(callModel, id);
const isOver = (call: Promise<unknown>) =>
  Promise.race([
    call.then(
      () => true,
      () => true,
    ),
    delay(1_500, false),
  ]);

test('an answer that arrives during a database outage is stored after it', async () => {
  const id = await rows.queue({ input: 'answered in the dark' });
  const call = attempt(id);
  await until('the call', async () => openai.countBy('answered in the dark') === 1);
  await postgres.stop();
  expect(await isOver(call)).toBe(false);
  postgres = await start();
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true, output: 'Answer to: answered in the dark', attempts: 1 });
  expect(openai.countBy('answered in the dark')).toBe(1);
});

test('an execution is claimed when the database is back; the workflow waits for a long outage', async () => {
  const id = await rows.queue({ input: 'claimed late' });
  await postgres.stop();
  await expect(attempt(id)).rejects.toMatchObject({ message: 'PostgreSQL does not answer.' });
  const call = attempt(id);
  expect(await isOver(call)).toBe(false);
  expect(openai.countBy('claimed late')).toBe(0);
  postgres = await start();
  // Starting can take longer than a claim waits.
  await call.catch(() => attempt(id));
  expect(await rows.read(id)).toMatchObject({ answered: true, attempts: 1 });
  expect(openai.countBy('claimed late')).toBe(1);
});

test('connections cut in the middle of a call lose nothing', async () => {
  const id = await rows.queue({ input: 'cut off' });
  const call = attempt(id);
  await until('the call', async () => openai.countBy('cut off') === 1);
  await db.system.query({
    text: 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
  });
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true, attempts: 1 });
  expect(openai.countBy('cut off')).toBe(1);
});

test('an attempt that paid for nothing stops waiting for the database when the worker stops', async () => {
  const id = await rows.queue({ input: 'given up' });
  await postgres.stop();
  const call = attempt(id).catch((error: unknown) => error);
  expect(await isOver(call)).toBe(false);
  stopping.abort();
  expect(await call).toBeInstanceOf(Error);
  postgres = await start();
  expect(await rows.read(id)).toMatchObject({ status: 'queued', attempts: 0 });
});
