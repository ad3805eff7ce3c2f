import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../support/database.ts';
import { behave } from '../support/fault-stage.ts';
import { killOrphans, type Started, startNode, startProcess } from '../support/processes.ts';
import {
  createTestEnvironment,
  endedExecution,
  makePrompt,
  type Place,
  type ProviderProcess,
  runAsync,
  startProvider,
} from '../support/processes-service.ts';
import { until } from '../support/wait-for.ts';

let place: Place;
let openai: ProviderProcess;
let database: { url: string; drop(): Promise<void> };
let api: Started;
let worker: Started;

const startApi = async () => {
  const started = startNode('src/api/server.ts', place.env);
  await started.says(/API listening on/);
  return started;
};
const startWorker = async () => {
  const started = startNode('src/worker.ts', { ...place.env, METRICS_PORT: '0' });
  await started.says(/workers started/);
  return started;
};

beforeAll(async () => {
  [database, openai] = await Promise.all([createTestDatabase(), startProvider('openai')]);
  place = await createTestEnvironment({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_TASK_QUEUE_PREFIX: `e2e-${randomBytes(4).toString('hex')}`,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    OPENAI_API_KEY: 'sk-e2e',
    OPENAI_BASE_URL: openai.baseUrl,
  });
  [api, worker] = await Promise.all([startApi(), startWorker()]);
  await makePrompt(place.call, 'greet', 'openai/gpt-4o-mini');
});
afterAll(async () => {
  await killOrphans();
  await database?.drop();
  await place?.remove();
});

test('an execution survives the kill of the API, and the next API answers for it', async () => {
  await behave(openai, { mode: 'hold' });
  const id = await runAsync(place.call, 'greet');
  await openai.called(1);
  await api.killTree();
  await behave(openai, {});
  api = await startApi();
  expect(await endedExecution(place.call, id)).toMatchObject({ status: 'completed', attempts: 1 });
  expect(await openai.calls()).toBe(1);
});

test('another worker completes the work of a killed one, with one more call at most', async () => {
  await behave(openai, { mode: 'hold' });
  const id = await runAsync(place.call, 'greet');
  await openai.called(2);
  await worker.killTree();
  await behave(openai, {});
  worker = await startWorker();
  expect(await endedExecution(place.call, id)).toMatchObject({ status: 'completed', attempts: 2 });
  expect(await openai.calls()).toBe(3);
});

/** An accepted execution that Temporal has lost. */
const LOST = '01980000-0000-7000-8000-000000000001';

/** Copies an execution to a row without a workflow. */
async function loseCopyOf(id: string): Promise<void> {
  const client = new pg.Client(database.url);
  await client.connect();
  await client.query(
    `insert into executions (workspace_id, id, status, prompt_name, prompt_version, model, provider, parameters, variables,
       input, metadata, created_at, check_at, accepted_at)
     select workspace_id, $2, 'queued', prompt_name, prompt_version, model, provider, parameters, variables, input, metadata,
       now() - interval '31 seconds', now(), now() from executions where id = $1`,
    [id.replace('exec_', ''), LOST],
  );
  await client.end();
}

test('both stop in order on request, even in the middle of a call', async () => {
  const before = await openai.calls();
  await behave(openai, { mode: 'hold' });
  const id = await runAsync(place.call, 'greet');
  await openai.called(before + 1);
  api.kill('SIGTERM');
  worker.kill('SIGTERM');
  await Promise.all([api, worker].map((each) => each.says(/"msg":"stopping/)));
  await behave(openai, {});
  const [first, second] = await Promise.all([api.ended, worker.ended]);
  for (const { code, output } of [first, second]) {
    expect(code).toBe(0);
    expect(output).toMatch(/"msg":"stopped"/);
    expect(output).not.toMatch(/could not stop|unhandled|"level":[56]0/);
  }
  [api, worker] = await Promise.all([startApi(), startWorker()]);
  expect(await endedExecution(place.call, id)).toMatchObject({ status: 'completed', attempts: 1 });
  expect(await openai.calls()).toBe(before + 1);
  // Found by a periodic check: the next test can run until then.
  await loseCopyOf(id);
});

test('simultaneous migrations wait for each other', async () => {
  const fresh = new URL(database.url);
  fresh.pathname = `/fresh_${randomBytes(6).toString('hex')}`;
  const migrate = () => startProcess(['npm', 'run', 'migrate'], { env: { DATABASE_URL: fresh.href } }).ended;
  const results = await Promise.all([migrate(), migrate(), migrate()]);
  for (const { code, output } of results) expect({ code, output }).toEqual({ code: 0, output });
  expect(results.filter(({ output }) => output.includes('Applied: '))).toHaveLength(1);
  expect(results.filter(({ output }) => output.includes('up to date'))).toHaveLength(2);
  const administrator = new pg.Client(database.url);
  await administrator.connect();
  await until('the database is let go', () =>
    administrator.query(`drop database ${fresh.pathname.slice(1)} with (force)`).then(() => true),
  );
  await administrator.end();
});

test('an execution reported to a caller is restarted if Temporal lost it', async () => {
  expect(await endedExecution(place.call, `exec_${LOST}`)).toMatchObject({ status: 'completed', attempts: 1 });
});
