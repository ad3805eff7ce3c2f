import { randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { z } from 'zod';
import { parsePublicId, publicId } from '../../src/domain/ids.ts';
import { backUp } from '../../src/embedded/backup.ts';
import { startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { startTemporal } from '../../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { evaluationScheduleId } from '../../src/temporal/names.ts';
import { behave, callsOf, chooseProcesses, KEY, untilCalled } from './fault-stage.ts';
import { freePorts, killOrphans, type Started, startProcess } from './processes.ts';
import { type ProviderProcess, startProvider } from './processes-service.ts';
import { answering, type Receiver, startReceiver } from './receiver.ts';
import { type Call, createCall } from './service.ts';
import { until } from './wait-for.ts';

/** `early`: much is in flight. `late`: that has ended, and other work is in flight. */
export type Moment = 'early' | 'late';

const HELD = 6;
const EXAMPLES = 12;
const MODEL = 'openai/gpt-4o-mini';

/** A service, its backups at two moments, and the work in flight before each. */
export interface Moments {
  folder: string;
  env: Record<string, string>;
  model: ProviderProcess;
  receiver: Receiver;
  /** The work in flight, by moment. */
  work: Record<Moment, Work>;
  remove(): Promise<void>;
}

interface Work {
  /** Executions whose calls are in flight, by id. */
  executions: string[];
  prompts: string[];
  half: Run;
  batched: Run;
  release: string;
  schedule: string;
  /** A key: that of `early` is revoked by `late`. */
  key: string;
  keyId: string;
}

/** An evaluation, and the model input of its examples. */
interface Run {
  id: string;
  prompts: string[];
}

/** The outcome of a restore. */
export interface Outcome {
  /** Rows by state when nothing changed anymore. */
  executions: Record<string, number>;
  evaluations: Record<string, number>;
  batches: Record<string, number>;
  deliveries: Record<string, number>;
  releases: Record<string, number>;
  /** Calls of the model, attempts and batches after the restore. */
  calls: number;
  attempts: number;
  submitted: number;
  /** Repetitions among these of work whose results the restored database has: paid, or sent, twice. */
  repeated: { calls: number; attempts: number; submitted: number };
  /** Batches at the provider that no row knows. */
  orphanedBatches: number;
  /** Completed evaluations that lack a result. */
  incomplete: number;
  /** Workflows that continue without work: their rows are gone, or have ended. */
  strayWorkflows: string[];
  /** Schedules that differ from Temporal's. */
  strayedSchedules: string[];
  /** Whether the key of the early moment opens the workspace. */
  earlyKeyWorks: boolean;
  /** The time until nothing changed anymore. */
  seconds: number;
  /** Forbidden log messages of processes. */
  troubles: string[];
}

const Seen = z.object({ created: z.number(), batches: z.array(z.object({ tag: z.string().nullable() })) });
const batchesAt = async (model: ProviderProcess) =>
  Seen.parse(await (await fetch(new URL('/__batches', model.baseUrl))).json());
const tellBatches = (model: ProviderProcess, path: string, body?: object) =>
  fetch(new URL(path, model.baseUrl), { method: 'POST', body: JSON.stringify(body ?? {}) });

async function created(call: Call, at: string, body: object, headers = {}) {
  const response = await call('POST', at, { body, headers });
  if (response.status !== 201) throw new Error(`POST ${at}: ${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

/** Starts PostgreSQL and Temporal on the data in a folder, or on nothing. */
async function startServers(folder: string) {
  const [postgresPort, temporalPort] = await freePorts(2);
  const [postgres, temporal] = await Promise.all([
    startPostgres({ dataDir: path.join(folder, 'postgres'), port: postgresPort, log: () => {} }),
    startTemporal({
      binary: await ensureTemporal({ report: () => {} }),
      dbFile: path.join(folder, 'temporal', 'temporal.db'),
      port: temporalPort,
      namespace: 'default',
      log: () => {},
    }),
  ]);
  return {
    databaseUrl: postgres.url('pms'),
    temporalAddress: temporal.address,
    stop: () => Promise.all([postgres.stop(), temporal.stop()]),
  };
}

async function runScript(args: string[], env: Record<string, string>): Promise<string> {
  const { code, output } = await startProcess([process.execPath, ...args], { env }).ended;
  if (code !== 0) throw new Error(`${args.join(' ')}: ${output}`);
  return output;
}

/** Uploads texts, and starts an evaluation of the prompt with them. */
async function evaluate(call: Call, dataset: string, texts: string[], mode = 'interactive'): Promise<Run> {
  const prompts = texts.map((text) => `Say ${text}`);
  const lines = texts.map((text) => JSON.stringify({ variables: { text }, expected: `Answer to: Say ${text}` }));
  const headers = { 'Content-Type': 'application/jsonl' };
  const { status } = await call('PUT', `/datasets/${dataset}`, { raw: lines.join('\n'), headers });
  if (status !== 200) throw new Error(`PUT /datasets/${dataset}: ${status}`);
  const evaluators = [{ type: 'exact_match' }];
  const { id } = await created(call, '/evaluations', { prompt_name: 'say', dataset, mode, concurrency: 4, evaluators });
  return { id, prompts };
}

/** Puts work in flight and keeps it there: calls of the model whose prompts contain the moment's name are not answered. */
async function putInFlight(moment: Moment, call: Call, model: ProviderProcess): Promise<Work> {
  await behave(model, { mode: 'hold', matching: `${moment}-held` });
  await tellBatches(model, '/__batches', { completeMs: null });
  const held = Array.from({ length: HELD }, (_, n) => `${moment}-held execution ${n}`);
  const executions = await Promise.all(
    held.map(async (text) => {
      const body = { prompt_name: 'say', variables: { text } };
      return (await created(call, '/executions', body, { Prefer: 'respond-async' })).id;
    }),
  );
  const prompts = held.map((text) => `Say ${text}`);
  // Some of its examples are answered, and the rest are held.
  const texts = Array.from({ length: EXAMPLES }, (_, n) => `${moment}-${n < EXAMPLES / 2 ? 'quick' : 'held'} ${n}`);
  const half = await evaluate(call, `${moment}-half`, texts);
  const batched = await evaluate(
    call,
    `${moment}-batched`,
    texts.map((text) => `batched ${text}`),
    'batch',
  );
  const name = `${moment}-released`;
  for (const version of [1, 2])
    await created(call, '/prompts', { name, template: `Version ${version} {{ text }}`, model: MODEL });
  await call('PUT', `/prompts/${name}/labels/production`, { body: { version: 1 } });
  const steps = [{ type: 'canary', percent: 50 }, { type: 'approve', exclude_author: false }, { type: 'promote' }];
  const release = await created(call, '/releases', { prompt_name: name, label: 'production', version: 2, steps });
  const schedule = await created(call, '/schedules', {
    name: moment,
    cron: '0 3 1 1 *',
    evaluation: { prompt_name: 'say', dataset: `${moment}-half`, evaluators: [{ type: 'exact_match' }] },
  });
  const { id: keyId, key } = await created(call, '/api-keys', { name: moment, scopes: ['read'] });
  await untilCalled(model, [...prompts, ...half.prompts.slice(0, EXAMPLES / 2 + 1)], HELD + EXAMPLES / 2 + 1);
  await until('half of the examples', async () => {
    const { body } = await call('GET', `/evaluations/${half.id}/results?limit=100`);
    return body.data.filter((result: { status: string }) => result.status === 'scored').length >= EXAMPLES / 2;
  });
  await until(
    'the release waits',
    async () => (await call('GET', `/releases/${release.id}`)).body.status === 'awaiting_approval',
  );
  await until('the batch is at the provider', async () => {
    const { body } = await call('GET', `/evaluations/${batched.id}`);
    return body.batches[0]?.status === 'in_progress';
  });
  return {
    executions,
    prompts,
    half,
    batched,
    release: release.id,
    schedule: schedule.id,
    key,
    keyId,
  };
}

/** Runs a service through both moments, backs it up at each, and kills it. */
export async function prepareMoments(): Promise<Moments> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-restore-'));
  const live = path.join(folder, 'live');
  const servers = await startServers(live);
  // Requests in the first moment are rejected once, and so wait for their retry.
  const receiver = await startReceiver(
    ({ headers }, response) => void response.writeHead(headers['x-delivery-attempt'] === '1' ? 503 : 200).end(),
  );
  const model = await startProvider('openai', ['--latency', '20']);
  await runScript(['src/db/migrate.ts'], { DATABASE_URL: servers.databaseUrl });
  const env = {
    OPENAI_API_KEY: 'x',
    OPENAI_BASE_URL: model.baseUrl,
    WEBHOOK_ALLOW_PRIVATE: 'loopback',
    // Longer than a backup takes on a busy machine.
    WEBHOOK_RETRY_WAITS: '20s,20s',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    TEMPORAL_TASK_QUEUE_PREFIX: 'restore',
    BOOTSTRAP_API_KEY: KEY,
  };
  const processes = await chooseProcesses({ ...servers, env });
  const started = await Promise.all([processes.startApi(), processes.startWorker()]);
  const { call } = processes;
  await created(call, '/prompts', { name: 'say', template: 'Say {{ text }}', model: MODEL });
  await created(call, '/webhooks', { url: receiver.url, events: ['execution.completed'] });
  const execute = async (text: string) => {
    const { body } = await call('POST', '/executions', { body: { prompt_name: 'say', variables: { text } } });
    if (body.status !== 'completed') throw new Error(JSON.stringify(body));
  };
  const waiting = (count: number) =>
    until('deliveries wait', async () => {
      const { rows } = await database.query(
        `select count(*)::int as count from deliveries where status = 'waiting' and started_at is not null`,
      );
      return rows[0].count >= count;
    });
  const database = new pg.Client(servers.databaseUrl);
  await database.connect();

  const early = await putInFlight('early', call, model);
  for (let n = 0; n < HELD; n += 1) await execute(`early delivery ${n}`);
  await waiting(HELD);
  await backUp(live, path.join(folder, 'early'));

  await behave(model, {});
  await tellBatches(model, '/__batches/end');
  for (const { id } of [early.half, early.batched])
    await until(
      'the evaluation is over',
      async () => (await call('GET', `/evaluations/${id}`)).body.status === 'completed',
    );
  await call('POST', `/releases/${early.release}/approve`, { body: {} });
  await until(
    'the release is over',
    async () => (await call('GET', `/releases/${early.release}`)).body.status === 'succeeded',
  );
  await call('POST', `/schedules/${early.schedule}/pause`, { body: {} });
  await call('DELETE', `/api-keys/${early.keyId}`);
  await until('all deliveries have ended', async () => {
    const { rows } = await database.query(`select from deliveries where status <> 'delivered'`);
    return rows.length === 0;
  });
  const late = await putInFlight('late', call, model);
  for (let n = 0; n < HELD; n += 1) await execute(`late delivery ${n}`);
  await waiting(HELD);
  await backUp(live, path.join(folder, 'late'));

  await database.end();
  await Promise.all(started.map((each) => each.killTree()));
  await servers.stop();
  await behave(model, {});
  return {
    folder,
    env,
    model,
    receiver,
    work: { early, late },
    async remove() {
      await killOrphans();
      await receiver.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The results in the database. */
async function ledgerOf(database: pg.Client) {
  const ids = async (text: string) => {
    const { rows } = await database.query(text);
    return rows.map(({ id }) => String(id));
  };
  return {
    // The model inputs that have a response.
    prompts: [
      ...(await ids(`select input as id from executions where answered_at is not null`)),
      ...(await ids(`select 'Say ' || (variables->>'text') as id from evaluation_results where output is not null`)),
    ],
    delivered: await ids(`select id from deliveries where status = 'delivered'`),
    batches: await ids('select id from provider_batches where submissions > 0'),
  };
}

async function byState(database: pg.Client, table: string): Promise<Record<string, number>> {
  const { rows } = await database.query(`select status, count(*)::int as count from ${table} group by 1 order by 1`);
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Waits until everything that can end has ended, excluding work that waits for people. */
async function settled(database: pg.Client): Promise<void> {
  await until('everything comes to rest', async () => {
    const { rows } = await database.query(`
      select 'execution' as what, id::text, status from executions where status in ('queued', 'running')
      union all select 'evaluation', id::text, status from evaluations where status in ('scheduled', 'running')
      union all select 'batch', id::text, status from provider_batches where finished_at is null
      union all select 'delivery', id::text, status from deliveries where status in ('queued', 'waiting')
      union all select 'event', id::text, type from events where dispatched_at is null
      union all select 'release', id::text, status from releases where status = 'in_progress' or signal_pending
      union all select 'evaluation to tell', id::text, status from evaluations where signal_pending`);
    if (rows.length > 0) throw new Error(`Not at rest: ${JSON.stringify(rows)}`);
    return true;
  });
}

/**
 * Starts a service on a database of one moment and a Temporal of another, or on an empty one, and returns the outcome.
 * @param afterwards runs when everything has come to rest
 */
export async function restore(
  moments: Moments,
  { database: ofDatabase, temporal: ofTemporal }: { database: Moment; temporal: Moment | 'empty' },
  afterwards: (call: Call) => Promise<void> = async () => {},
): Promise<Outcome> {
  const { model, receiver, env, work } = moments;
  const folder = path.join(moments.folder, `database-${ofDatabase}-temporal-${ofTemporal}`);
  await mkdir(folder);
  await cp(path.join(moments.folder, ofDatabase, 'postgres'), path.join(folder, 'postgres'), { recursive: true });
  if (ofTemporal !== 'empty')
    await cp(path.join(moments.folder, ofTemporal, 'temporal'), path.join(folder, 'temporal'), { recursive: true });
  const servers = await startServers(folder);
  const database = new pg.Client(servers.databaseUrl);
  await database.connect();
  const connection = await Connection.connect({ address: servers.temporalAddress });
  const started: Started[] = [];
  try {
    const known = await ledgerOf(database);
    const all = [...work.early.prompts, ...work.late.prompts, ...work.early.half.prompts, ...work.late.half.prompts];
    const prompts = [...new Set([...known.prompts, ...all])];
    const [callsBefore, batchesBefore, receivedBefore] = [
      await callsOf(model, prompts),
      await batchesAt(model),
      receiver.received.length,
    ];
    receiver.respond = answering(200);
    await tellBatches(model, '/__batches', { completeMs: 0 });
    await tellBatches(model, '/__batches/end');

    const begun = performance.now();
    // As described in docs/backup.md.
    await runScript(['src/admin/main.ts', 'reconcile'], { DATABASE_URL: servers.databaseUrl });
    const processes = await chooseProcesses({ ...servers, env });
    started.push(...(await Promise.all([processes.startApi(), processes.startWorker()])));
    await tellWorkflows(servers.temporalAddress);
    await settled(database);
    const seconds = (performance.now() - begun) / 1000;
    await afterwards(processes.call);
    await settled(database);

    const calls = (await callsOf(model, prompts)).map((count, index) => count - (callsBefore[index] ?? 0));
    const attempts = receiver.received.slice(receivedBefore).map(({ headers }) => String(headers['x-delivery-id']));
    const batches = await batchesAt(model);
    const tags = batches.batches.map(({ tag }) => tag);
    const newTags = tags.slice(batchesBefore.batches.length);
    const rowsOfBatches = await database.query('select id from provider_batches');
    const ours = new Set(rowsOfBatches.rows.map(({ id }) => publicId('providerBatch', id)));
    const { rows: incomplete } = await database.query(`
      select from evaluations e where status = 'completed'
      and examples_total <> (select count(*) from evaluation_results r where r.evaluation_id = e.id and r.status in ('scored', 'failed'))`);
    const outcome: Outcome = {
      executions: await byState(database, 'executions'),
      evaluations: await byState(database, 'evaluations'),
      batches: await byState(database, 'provider_batches'),
      deliveries: await byState(database, 'deliveries'),
      releases: await byState(database, 'releases'),
      calls: calls.reduce((sum, count) => sum + count, 0),
      attempts: attempts.length,
      submitted: batches.created - batchesBefore.created,
      repeated: {
        calls: prompts.reduce(
          (sum, prompt, index) => sum + (known.prompts.includes(prompt) ? (calls[index] ?? 0) : 0),
          0,
        ),
        attempts: attempts.filter((id) => known.delivered.includes(parsePublicId('delivery', id) ?? '')).length,
        submitted: known.batches.filter((id) => newTags.includes(publicId('providerBatch', id))).length,
      },
      orphanedBatches: new Set(tags.filter((tag) => tag === null || !ours.has(tag))).size,
      incomplete: incomplete.length,
      strayWorkflows: await strays(new Client({ connection }), database),
      strayedSchedules: await strayedSchedules(new Client({ connection }), database),
      earlyKeyWorks: (await createCall(processes.origin, work.early.key)('GET', '/prompts')).status === 200,
      seconds,
      troubles: started.flatMap((each) =>
        each
          .output()
          .split('\n')
          .filter((line) => /unhandled|"level":[56]0|Nondeterminism|TMPRL1100/.test(line)),
      ),
    };
    for (const each of started.splice(0)) {
      each.kill('SIGTERM');
      await each.ended;
    }
    return outcome;
  } finally {
    for (const each of started) await each.killTree();
    await connection.close();
    await database.end();
    await servers.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The other command of docs/backup.md: signals workflows whose rows are gone, or of another time. */
async function tellWorkflows(address: string): Promise<void> {
  const binary = await ensureTemporal({ report: () => {} });
  const query = `ExecutionStatus = 'Running' and WorkflowType in ('evaluationRun', 'releasePrompt', 'providerBatch')`;
  const args = ['--address', address, '--query', query, '--name', 'controlChanged', '--reason', 'restored', '--yes'];
  const { code, output } = await startProcess([binary, 'workflow', 'signal', ...args]).ended;
  if (code !== 0) throw new Error(`temporal workflow signal: ${output}`);
}

/** Workflows that run though their row is gone or has ended. */
async function strays(client: Client, database: pg.Client): Promise<string[]> {
  const { rows } = await database.query(`
    select id::text from executions where status in ('queued', 'running')
    union all select id::text from evaluations where status in ('scheduled', 'running', 'paused')
    union all select id::text from releases where finished_at is null
    union all select id::text from provider_batches where finished_at is null`);
  const unfinished = rows.map(({ id }) => String(id));
  const running = async () => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = 'Running'` }))
      if (!workflowId.startsWith('temporal-') && !unfinished.some((id) => workflowId.includes(id)))
        found.push(workflowId);
    return found;
  };
  // The list of workflows lags behind a little.
  await until('no stray workflows', async () => (await running()).length === 0, 20_000).catch(() => {});
  return running();
}

async function strayedSchedules(client: Client, database: pg.Client): Promise<string[]> {
  const { rows } = await database.query('select id, name, paused from schedules');
  const differing: string[] = [];
  for (const { id, name, paused } of rows) {
    const state = await until(
      'the schedule is as its row',
      async () => {
        const found = await client.schedule.getHandle(evaluationScheduleId(id)).describe();
        return found.state.paused === paused ? 'same' : undefined;
      },
      30_000,
    ).catch((error: unknown) => String(error));
    if (state !== 'same') differing.push(`${name}: ${state}`);
  }
  return differing;
}
