import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import pg from 'pg';
import { z } from 'zod';
import { migrate } from '../src/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../src/embedded/postgres/postgres.ts';
import { type Helper, startHelper } from './child.ts';
import { cpuOf } from './cpu.ts';
import { evaluate, MODEL, questionsOf, TEMPLATE, upload } from './evaluations.ts';
import { executionLoad, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import { type Part, type Service, startApi, startWorker } from './service.ts';
import { type StandInModel, startModel } from './stand-in.ts';
import { median, quantile } from './statistics.ts';
import { startTemporalServer, type TemporalServer } from './temporal-server.ts';

const MODEL_MS = 200;
export const APIS = 2;
export const WORKERS = 3;
const ROUNDS = 3;
const WARM_UP = { callers: 20, count: 100 };
const AMOUNTS = [
  { callers: 20, count: 240 },
  { callers: 50, count: 400 },
  { callers: 100, count: 600 },
];
const EXAMPLES = 1_000;

export interface Cluster {
  postgres: EmbeddedPostgres;
  /** The PostgreSQL of Temporal. */
  temporalPostgres: EmbeddedPostgres;
  temporal: TemporalServer;
  model: StandInModel;
  apis: Service[];
  workers: Part[];
  /** A caller process for each API. */
  callers: Helper[];
}

/** Stops everything started so far, last first, even if the start failed. */
type Stops = (() => Promise<unknown>)[];

export interface ClusterOptions {
  modelMs: number;
  /** Settings of each process, requested when it starts: first the APIs, then the workers. */
  settings?: () => Promise<Record<string, string>>;
  /** For both PostgreSQL servers. */
  postgresSettings?: Record<string, string>;
}

/** Runs `work` on a cluster, then ends all its processes and removes its data. */
export async function withCluster<T>(
  { report }: Pick<Means, 'report'>,
  options: ClusterOptions,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-bench-'));
  const stops: Stops = [];
  try {
    return await work(await startCluster(folder, stops, report, options));
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startCluster(
  folder: string,
  stops: Stops,
  report: Means['report'],
  { modelMs, settings = async () => ({}), postgresSettings = {} }: ClusterOptions,
): Promise<Cluster> {
  const kept = async <T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> => {
    const started = await starting;
    stops.push(() => started.stop());
    return started;
  };
  const startOwnPostgres = (name: string) =>
    kept(
      startPostgres({
        dataDir: path.join(folder, name),
        log: report,
        settings: { shared_buffers: '128MB', ...postgresSettings },
      }),
    );
  const postgres = await startOwnPostgres('postgres');
  const temporalPostgres = await startOwnPostgres('temporal-postgres');
  const temporal = await kept(startTemporalServer(folder, temporalPostgres, report));
  const databaseUrl = postgres.url('pms');
  await migrate(databaseUrl);
  const model = await kept(startModel(modelMs));
  const pids = { postgres: postgres.pid, temporal: temporal.pid };
  const servers = { folder, databaseUrl, temporalAddress: temporal.address, pids, stop: async () => {} };
  const [apis, workers, callers]: [Service[], Part[], Helper[]] = [[], [], []];
  for (let index = 0; index < APIS; index += 1) {
    apis.push(await kept(startApi(servers, { ...model.settings, ...(await settings()) })));
    callers.push(await kept(startHelper('http-load.ts')));
  }
  for (let index = 0; index < WORKERS; index += 1)
    workers.push(await kept(startWorker(servers, { ...model.settings, ...(await settings()) })));
  return { postgres, temporalPostgres, temporal, model, apis, workers, callers };
}

/** Each half of the callers uses one of the APIs. */
async function execute({ apis, callers }: Cluster, amount: { callers: number; count: number }): Promise<LoadResult> {
  const results = await Promise.all(
    apis.map(({ origin, key }, index) => {
      const load = {
        ...executionLoad({ origin, key }, { number: 1 }),
        callers: amount.callers / APIS,
        count: amount.count / APIS,
      };
      const caller = callers[index];
      if (caller === undefined) throw new Error('Each API has its caller.');
      return caller.ask(load, LoadResult);
    }),
  );
  return {
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    latenciesMs: results.flatMap(({ latenciesMs }) => latenciesMs),
  };
}

/** Bytes on disk of all databases of a server, and of the write-ahead log written so far. */
async function bytesOf(postgres: EmbeddedPostgres): Promise<{ stored: number; log: number }> {
  const client = new pg.Client(postgres.url('postgres'));
  await client.connect();
  try {
    const { rows } = await client.query(
      `select sum(pg_database_size(oid)) stored, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') log from pg_database`,
    );
    return z.object({ stored: z.coerce.number(), log: z.coerce.number() }).parse(rows[0]);
  } finally {
    await client.end();
  }
}

async function measure(cluster: Cluster, rounds: number): Promise<Row[]> {
  const { apis, workers, model } = cluster;
  const [first, second] = apis;
  if (first === undefined || second === undefined) throw new Error('There are two APIs.');
  await first.call('POST', '/prompts', { name: 'bench', template: TEMPLATE, model: `openai/${MODEL}` });
  await upload(first, 'small', questionsOf(EXAMPLES));
  await execute(cluster, WARM_UP);
  const processes = {
    'the APIs': apis.map(({ pid }) => pid),
    'the workers': workers.map(({ pid }) => pid),
    Temporal: [cluster.temporal.pid],
    'Temporal’s PostgreSQL': [cluster.temporalPostgres.pid],
    'the service’s PostgreSQL': [cluster.postgres.pid],
  };
  const kinds = Object.keys(processes) as (keyof typeof processes)[];

  const doubled: number[] = [];
  const rows: Row[] = [];
  let executions = 0;
  const bytesBefore = await bytesOf(cluster.temporalPostgres);
  for (const amount of AMOUNTS) {
    const [rates, p50s, p95s]: [number[], number[], number[]] = [[], [], []];
    const cpuMs = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Record<
      (typeof kinds)[number],
      number[]
    >;
    for (let round = 0; round < rounds; round += 1) {
      await model.forget();
      const used = await cpuOf(processes, () => execute(cluster, amount));
      const { requests, seconds, latenciesMs } = used.result;
      executions += requests;
      doubled.push((await model.calls()).count - requests);
      rates.push(requests / seconds);
      p50s.push(median(latenciesMs));
      p95s.push(quantile(latenciesMs, 0.95));
      for (const kind of kinds) cpuMs[kind].push(used.cpuMs[kind] / requests);
    }
    rows.push(
      row(`${amount.callers} callers`, '/s', rates),
      row(
        `${amount.callers} callers: by each worker`,
        '/s',
        rates.map((rate) => rate / WORKERS),
      ),
      row(`${amount.callers} callers: p50`, 'ms', p50s),
      row(`${amount.callers} callers: p95`, 'ms', p95s),
      ...kinds.map((kind) => row(`${amount.callers} callers: CPU of ${kind}, an execution`, 'ms', cpuMs[kind])),
    );
  }

  const bytesAfter = await bytesOf(cluster.temporalPostgres);
  const bytesRow = (name: string, of: 'stored' | 'log') =>
    row(name, 'bytes', [(bytesAfter[of] - bytesBefore[of]) / executions]);
  rows.push(
    bytesRow('Temporal’s databases, an execution', 'stored'),
    bytesRow('write-ahead log of Temporal’s databases, an execution', 'log'),
  );

  const seconds: number[] = [];
  const asked: { count: number; mostOfOnePrompt: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    await model.forget();
    // `evaluate` checks that there is one result for each example.
    seconds.push(await evaluate(second, 'small', EXAMPLES));
    asked.push(await model.calls());
  }
  return [
    ...rows,
    row('calls of the model beyond the executions', '', doubled, { atMost: 0 }),
    row(`an evaluation of ${EXAMPLES} examples`, 's', seconds),
    row(
      'calls of the model beyond the examples',
      '',
      asked.map(({ count }) => count - EXAMPLES),
      { atMost: 0 },
    ),
    row(
      'most calls for one example',
      '',
      asked.map(({ mostOfOnePrompt }) => mostOfOnePrompt),
      { atMost: 1 },
    ),
  ];
}

/**
 * The service spread over processes: two with the API and three with workers, on a PostgreSQL and on Temporal's server, which
 * has its own PostgreSQL. All run on this machine, so this shows the cost of each kind and that nothing is done twice, but
 * not how far it scales.
 */
export async function measureCluster(means: Means): Promise<Outcome> {
  const benchmark = `cluster (${APIS} API and ${WORKERS} worker processes, Temporal on PostgreSQL, a model of ${MODEL_MS} ms)`;
  if (process.platform !== 'linux') return { benchmark, rows: [], skipped: 'CPU times are read from /proc' };
  const measured = (cluster: Cluster) => measure(cluster, means.rounds ?? ROUNDS);
  return { benchmark, rows: await withCluster(means, { modelMs: MODEL_MS }, measured) };
}
