import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createExecutionActivities, type ExecutionActivities } from '../../src/activities/execute-prompt/execution.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres.ts';
import type { ClosableModels } from '../../src/models/model.ts';
import { testPlaces } from '../support/places.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';
import { modelsAt } from '../support/providers/models.ts';
import { startOpenAiServer } from '../support/providers/openai.ts';
import type { StandIn } from '../support/providers/stand-in.ts';
import { until } from '../support/wait-for.ts';

const never = new AbortController().signal;
let folder: string;
let postgres: EmbeddedPostgres;
let db: Database;
let openai: StandIn;
let models: ClosableModels;
let rows: ExecutionRows;
let activities: ExecutionActivities;

/** A PostgreSQL of this file's own, which comes back on the port that it had. */
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
  activities = createExecutionActivities({ db, models, modelTimeoutMs: 20_000, stopping: never, places: testPlaces() });
});
afterAll(async () => {
  await models?.close();
  await openai?.close();
  await db?.close();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

const callModel = (id: string) => activities.callModel(id, 'ws_test');

/** An attempt whose heartbeats are counted. */
function attempt() {
  const environment = new MockActivityEnvironment();
  let beats = 0;
  environment.on('heartbeat', () => {
    beats += 1;
  });
  return { environment, beats: () => beats };
}

test('an answer that comes while the database is away is stored when it is back', async () => {
  const id = await rows.queue({ input: 'answered in the dark' });
  const { environment, beats } = attempt();
  const call = environment.run(callModel, id);
  await until('the call', async () => openai.countBy('answered in the dark') === 1);
  await postgres.stop();
  await until('heartbeats while the database is away', async () => beats() >= 2);
  postgres = await start();
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true, output: 'Answer to: answered in the dark', attempts: 1 });
  expect(openai.countBy('answered in the dark')).toBe(1);
});

test('an execution is claimed when the database is back, with heartbeats until then', async () => {
  const id = await rows.queue({ input: 'claimed late' });
  await postgres.stop();
  const { environment, beats } = attempt();
  const call = environment.run(callModel, id);
  await until('heartbeats while the database is away', async () => beats() >= 2);
  expect(openai.countBy('claimed late')).toBe(0);
  postgres = await start();
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true, attempts: 1 });
  expect(openai.countBy('claimed late')).toBe(1);
});

test('an attempt that has paid for nothing does not wait for the database once it is canceled', async () => {
  const id = await rows.queue({ input: 'given up' });
  await postgres.stop();
  const { environment, beats } = attempt();
  const failure = environment.run(callModel, id).catch((error: unknown) => error);
  await until('a heartbeat', async () => beats() >= 1);
  environment.cancel();
  expect(await failure).toBeInstanceOf(CancelledFailure);
  postgres = await start();
  expect(await rows.read(id)).toMatchObject({ status: 'queued', attempts: 0 });
});

test('connections that are cut in the middle of a call lose nothing', async () => {
  const id = await rows.queue({ input: 'cut off' });
  const call = attempt().environment.run(callModel, id);
  await until('the call', async () => openai.countBy('cut off') === 1);
  await db.system.query({
    text: 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
  });
  await call;
  expect(await rows.read(id)).toMatchObject({ answered: true, attempts: 1 });
  expect(openai.countBy('cut off')).toBe(1);
});
