import process from 'node:process';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createTestDatabase } from '../support/database.ts';
import { callsOf, type Stage, setStage } from '../support/fault-stage.ts';
import type { Started } from '../support/processes.ts';
import { makePrompt } from '../support/processes-service.ts';
import { startProxy, type TcpProxy } from '../support/proxy.ts';
import type { Answer } from '../support/service.ts';
import { until } from '../support/wait-for.ts';

const TEMPORAL_ADDRESS = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
interface Request {
  path: string;
  body: object;
  key: string;
  /** Its table. */
  table: string;
  /** Its workflow. */
  workflow: string;
  /** The model input, which is unique to it. */
  prompt: string;
}

/** One of each kind. @param test name, which becomes part of the requests */
function requestsOf(test: string): Request[] {
  const execution = `${test} execution`;
  const evaluation = `${test} evaluation`;
  return [
    {
      path: '/executions',
      body: { prompt_name: 'greet', variables: { name: execution } },
      key: `${test}-execution`,
      table: 'executions',
      workflow: 'execute-prompt/exec_',
      prompt: `Greet ${execution}.`,
    },
    {
      path: '/evaluations',
      body: { prompt_name: 'greet', examples: [{ variables: { name: evaluation }, expected: 'x' }] },
      key: `${test}-evaluation`,
      table: 'evaluations',
      workflow: 'evaluation-run/eval_',
      prompt: `Greet ${evaluation}.`,
    },
  ];
}

let database: { url: string; drop(): Promise<void> };
let db: Database;
let connection: Connection;
/** The API's way to Temporal. Workers have another. */
let proxy: TcpProxy;
let stage: Stage;
let api: Started;

const startApi = () => stage.startApi({ TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` });

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 2 });
  connection = Connection.lazy({ address: TEMPORAL_ADDRESS });
  const [host = '', port] = TEMPORAL_ADDRESS.split(':');
  proxy = await startProxy({ host, port: Number(port) });
  stage = await setStage({ databaseUrl: database.url, temporalAddress: TEMPORAL_ADDRESS, latencyMs: 0 });
  api = await startApi();
  await makePrompt(stage.call, 'greet', 'openai/gpt-4o-mini');
});
afterAll(async () => {
  await stage?.end();
  await proxy?.close();
  await connection?.close();
  await db?.close();
  await database?.drop();
});

const workflowOf = ({ workflow, id }: Stored) => new Client({ connection }).workflow.getHandle(`${workflow}${id}`);
const count = async (table: string, condition: string, value: string) =>
  (await db.system.query({ text: `select from ${table} where ${condition} = $1` }, [value])).length;

interface Stored extends Request {
  /** In the table. */
  id: string;
  /** Undefined if there is none. */
  answer: Promise<Answer | undefined>;
}

/** Sends a request, and waits until it is stored. */
async function stored(request: Request): Promise<Stored> {
  const { path, body, key } = request;
  const answer = stage.call('POST', path, { body, headers: { 'Idempotency-Key': key } }).catch(() => undefined);
  const id = await until('the row', async () => {
    const text = 'select resource_id from idempotency_keys where key = $1';
    const [row] = await db.system.query<{ resource_id: string }>({ text }, [key]);
    return row?.resource_id;
  });
  return { ...request, id, answer };
}

/** Makes requests without a response a minute older. */
async function aMinuteLater(requests: readonly Stored[]): Promise<void> {
  const ago = `now() - interval '1 minute'`;
  for (const { table, id } of requests) {
    const text = `update ${table} set created_at = ${ago}, check_at = ${ago} where id = $1 and accepted_at is null returning id`;
    expect(await db.system.query({ text }, [id])).toHaveLength(1);
  }
}

/** Nothing is left of them, and the model was sent nothing. */
async function expectWithdrawn(requests: readonly Stored[]): Promise<void> {
  for (const { table, id, key } of requests) {
    expect(await count(table, 'id', id)).toBe(0);
    expect(await count('idempotency_keys', 'key', key)).toBe(0);
  }
  const prompts = requests.map(({ prompt }) => prompt);
  expect(await callsOf(stage.model, prompts)).toEqual(requests.map(() => 0));
}

/** Their callers try again, through the next API. */
async function expectNewStarts(requests: readonly Request[]): Promise<void> {
  proxy.restore();
  api = await startApi();
  for (const { path, body, key } of requests) {
    const again = await stage.call('POST', path, { body, headers: { 'Idempotency-Key': key } });
    expect(again.status).toBe(201);
    const ended = async () => (await stage.call('GET', `${path}/${again.body.id}`)).body.status === 'completed';
    await until('its end', ended);
  }
  const prompts = requests.map(({ prompt }) => prompt);
  expect(await callsOf(stage.model, prompts)).toEqual(requests.map(() => 1));
}

test('an execution stored by an API killed before the start never runs', async () => {
  // From now on everything sent to Temporal is lost: the start, which follows the insert.
  proxy.stall();
  const requests = await Promise.all(requestsOf('unstarted').map(stored));
  await api.killTree();
  for (const { answer } of requests) expect(await answer).toBeUndefined();
  await aMinuteLater(requests);
  const worker = await stage.startWorker();
  await worker.says(/execution_id.*withdrew a run whose creation was never confirmed to its caller/);
  await worker.says(/evaluation_id.*withdrew a run whose creation was never confirmed to its caller/);
  await expectWithdrawn(requests);
  for (const request of requests) await expect(workflowOf(request).describe()).rejects.toThrow(WorkflowNotFoundError);
  await expectNewStarts(requests);
  await worker.killTree();
});

test('nor does one started without telling its caller, if no worker began it in time', async () => {
  proxy.stallAnswers();
  const requests = await Promise.all(requestsOf('signal_pending').map(stored));
  for (const request of requests) await until('the start', () => workflowOf(request).describe());
  await api.killTree();
  for (const { answer } of requests) expect(await answer).toBeUndefined();
  await aMinuteLater(requests);
  await stage.startWorker();
  for (const request of requests) await workflowOf(request).result();
  await expectWithdrawn(requests);
  await expectNewStarts(requests);
});
