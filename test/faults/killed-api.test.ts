import process from 'node:process';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { callsOf, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { makePrompt } from '../support/processes-service.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import { until } from '../support/wait-for.ts';

const TEMPORAL_ADDRESS = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
const PROMPT = 'Greet Ada.';
const EXECUTION = { prompt_name: 'greet', variables: { name: 'Ada' } };
const EVALUATION = { prompt_name: 'greet', examples: [{ variables: { name: 'Ada' }, expected: 'x' }] };
const KEY = { 'Idempotency-Key': 'once' };
/** What a caller asks for, where it is stored, and the workflow that runs it. */
const requests = [
  {
    path: '/executions',
    body: EXECUTION,
    table: 'executions',
    workflow: 'execute-prompt/exec_',
  },
  {
    path: '/evaluations',
    body: EVALUATION,
    table: 'evaluations',
    workflow: 'evaluation-run/eval_',
  },
];
type Request = (typeof requests)[number];

let database: { url: string; drop(): Promise<void> };
let db: Database;
let connection: Connection;
/** The API's way to Temporal. Workers have another. */
let proxy: TcpProxy;
let stage: Stage;
let api: Started;

const startApi = () => stage.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });

beforeEach(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 2 });
  connection = Connection.lazy({ address: TEMPORAL_ADDRESS });
  const [host = '', port] = TEMPORAL_ADDRESS.split(':');
  proxy = await startProxy({ host, port: Number(port) });
  stage = await setStage({ databaseUrl: database.url, temporalAddress: TEMPORAL_ADDRESS, latencyMs: 0 });
  api = await startApi();
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
});
afterEach(async () => {
  await stage?.end();
  await proxy?.close();
  await connection?.close();
  await db?.close();
  await database?.drop();
});

const workflowOf = ({ workflow }: Request, id: string) =>
  new Client({ connection }).workflow.getHandle(`${workflow}${id}`);
const count = async (text: string) => (await db.system.query({ text })).length;

/** Asks, and waits until it is stored. @returns its id in the table, and the answer, which is undefined where there is none */
async function stored({ path, body, table }: Request) {
  const answer = stage.call('POST', path, { body, headers: KEY }).catch(() => undefined);
  const id = await until('the row', async () => {
    const [row] = await db.system.query<{ id: string }>({ text: `select id from ${table}` });
    return row?.id;
  });
  return { id, answer };
}

/** As if what no caller was told of had been there for a minute. */
async function aMinuteLater({ table }: Request): Promise<void> {
  const ago = `now() - interval '1 minute'`;
  await db.system.query({
    text: `update ${table} set created_at = ${ago}, check_at = ${ago} where accepted_at is null`,
  });
}

/** Its caller tries again, through the next API. */
async function expectNewStart({ path, body }: Request): Promise<void> {
  proxy.restore();
  api = await startApi();
  const again = await stage.call('POST', path, { body, headers: KEY });
  expect(again.status).toBe(201);
  await until('its end', async () => (await stage.call('GET', `${path}/${again.body.id}`)).body.status === 'completed');
  expect(await callsOf(stage.model, [PROMPT])).toEqual([1]);
}

test.each(requests)('what an API stored that was killed before the start is never run: $path', async (request) => {
  const worker = await stage.startWorker();
  // What it sends to Temporal from now on goes into the void: the start, which follows the insert.
  proxy.stall();
  const { id, answer } = await stored(request);
  await api.killTree();
  expect(await answer).toBeUndefined();
  await aMinuteLater(request);
  await worker.says(/withdrew an \w+ that no caller had been told of/);
  expect(await count(`select from ${request.table}`)).toBe(0);
  expect(await count('select from idempotency_keys')).toBe(0);
  await expect(workflowOf(request, id).describe()).rejects.toThrow(WorkflowNotFoundError);
  expect(await callsOf(stage.model, [PROMPT])).toEqual([0]);
  await expectNewStart(request);
});

test.each(requests)(
  'nor what it started without being able to tell its caller, where no worker began it in time: $path',
  async (request) => {
    proxy.stallAnswers();
    const { id, answer } = await stored(request);
    await until('the start', () => workflowOf(request, id).describe());
    await api.killTree();
    expect(await answer).toBeUndefined();
    await aMinuteLater(request);
    await stage.startWorker();
    await workflowOf(request, id).result();
    expect(await count(`select from ${request.table}`)).toBe(0);
    expect(await count('select from idempotency_keys')).toBe(0);
    expect(await callsOf(stage.model, [PROMPT])).toEqual([0]);
    await expectNewStart(request);
  },
);
