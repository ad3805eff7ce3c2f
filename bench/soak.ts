import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../src/embedded/ports.ts';
import { APIS, type Cluster, WORKERS, withCluster } from './cluster.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row, type Target } from './report.ts';
import { type Done, prepareSoak, RATE, startSoakLoad } from './soak-load.ts';
import { startSoakReceivers } from './soak-receivers.ts';
import {
  type Sample,
  type StatementTimes,
  sampleCpu,
  sampleProcesses,
  sampleStatements,
  sampleTables,
  type TableSize,
  type Watched,
} from './soak-samples.ts';
import { median, quantile } from './statistics.ts';

const FOLDER = fileURLToPath(new URL('../.cache/bench/', import.meta.url));
/** Intermediate results during the run. */
const SAMPLES_FILE = path.join(FOLDER, 'soak.jsonl');
const TABLE_FILE = path.join(FOLDER, 'soak.md');

const MINUTES = 120;
const MODEL_MS = 200;
const SAMPLE_EVERY_MS = 5_000;
const TABLES_EVERY_MS = 60_000;
/** Loading and compiling at the start is not a leak: skip a tenth of the time, at least this long. */
const LEAST_WARM_UP_MS = 60_000;
const FLAT = 1.1;
/** Memory grows by pages: smaller changes are steps. */
const LEAST_BYTES = 512 * 1024;
/** A constant amount of work: changes in its duration come from the machine. */
const CONTROL = 'select sum(sqrt(n)) from generate_series(1, 50000) as n';
/** Autovacuum starts when this share of a table's rows is dead. */
const VACUUM_SHARE = 0.2;
const BYTES_OF_A_ROW = ['table', 'indexes'] as const;

interface Windows {
  first: [number, number];
  last: [number, number];
}

const within = <T extends { at: number }>(entries: readonly T[], [from, to]: [number, number]) =>
  entries.filter(({ at }) => at >= from && at < to);

/** The first and the last tenth of the time after the warm-up. */
function windowsOf(totalMs: number): Windows {
  const warmUpMs = Math.max(LEAST_WARM_UP_MS, totalMs / 10);
  const tenth = (totalMs - warmUpMs) / 10;
  return { first: [warmUpMs, warmUpMs + tenth], last: [totalMs - tenth, totalMs] };
}

/** A number at the start and at the end. */
interface Change {
  name: string;
  first: number;
  last: number;
  /** The target for their ratio; absent if it is only reported. */
  target?: Target;
}

/** The heap in use includes garbage: its minimum is closest to the live data. */
function levelOf(name: string, values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  return /heap in use|outside the heap/.test(name) ? Math.min(...values) : median(values);
}

function changesOfSamples(samples: readonly Sample[], { first, last }: Windows): Change[] {
  const names = Object.keys(samples.at(-1)?.values ?? {});
  return names.map((name) => {
    const of = (window: [number, number]) =>
      levelOf(
        name,
        within(samples, window).map(({ values }) => values[name] ?? Number.NaN),
      );
    const isService = /^the (APIs|workers):/.test(name);
    return { name, first: of(first), last: of(last), ...(isService ? { target: { atMost: FLAT } } : {}) };
  });
}

function changesOfCpu(samples: readonly Sample[], { first, last }: Windows): Change[] {
  const names = Object.keys(samples.at(-1)?.values ?? {});
  return names.map((name) => {
    const of = (window: [number, number]) => {
      const inside = within(samples, window);
      const [begin, end] = [inside[0], inside.at(-1)];
      if (begin === undefined || end === undefined || begin === end) return Number.NaN;
      return ((end.values[name] ?? 0) - (begin.values[name] ?? 0)) / ((end.at - begin.at) / 1_000);
    };
    return { name: `${name} (ms a second)`, first: of(first), last: of(last), target: { atMost: FLAT } };
  });
}

function changesOfLatency(done: readonly Done[], { first, last }: Windows): Change[] {
  return [...new Set(done.map(({ kind }) => kind))].flatMap((kind) =>
    [0.5, 0.95].map((share) => {
      const of = (window: [number, number]) => {
        const values = within(done, window).flatMap((entry) =>
          entry.kind === kind && entry.error === undefined ? [entry.ms] : [],
        );
        return values.length === 0 ? Number.NaN : quantile(values, share);
      };
      return { name: `${kind}: p${share * 100} (ms)`, first: of(first), last: of(last), target: { atMost: FLAT } };
    }),
  );
}

interface TablesAt {
  at: number;
  sizes: Map<string, TableSize>;
}

function changesOfTables(samples: readonly TablesAt[], windows: Windows): Change[] {
  const [begin, end] = [within(samples, windows.first).at(-1), within(samples, windows.last).at(-1)];
  if (begin === undefined || end === undefined) return [];
  return [...begin.sizes].flatMap(([table, before]): Change[] => {
    const after = end.sizes.get(table);
    if (after === undefined) return [];
    const isLarge = before.tableBytes + before.indexBytes >= LEAST_BYTES;
    const hasGrown = after.tableBytes + after.indexBytes >= 2 * LEAST_BYTES;
    if (!isLarge && !hasGrown) return [];
    const grows = after.rows > FLAT * before.rows;
    return BYTES_OF_A_ROW.map((part) => {
      const bytesOf = ({ tableBytes, indexBytes }: TableSize) => (part === 'table' ? tableBytes : indexBytes);
      const of = (size: TableSize) => bytesOf(size) / (grows ? Math.max(1, size.rows) : 1024);
      const name = `${table}: ${part} (${grows ? 'bytes a row' : 'KiB'})`;
      return { name, first: of(before), last: of(after), target: { atMost: FLAT } };
    });
  });
}

interface StatementsAt {
  at: number;
  times: StatementTimes;
}

const DEAREST = 12;

/** The statements with the most PostgreSQL time in the last tenth, compared with the first one. */
function dearestStatements(samples: readonly StatementsAt[], { first, last }: Windows): string[] {
  const spent = (window: [number, number]) => {
    const inside = within(samples, window);
    const [begin, end] = [inside[0], inside.at(-1)];
    const since = (query: string) => {
      const [before, after] = [begin?.times.get(query), end?.times.get(query)];
      const seconds = ((end?.at ?? 0) - (begin?.at ?? 0)) / 1_000;
      return {
        msASecond: ((after?.ms ?? 0) - (before?.ms ?? 0)) / seconds,
        callsASecond: ((after?.calls ?? 0) - (before?.calls ?? 0)) / seconds,
      };
    };
    return { since, queries: [...(end?.times.keys() ?? [])] };
  };
  const [before, after] = [spent(first), spent(last)];
  return after.queries
    .map((query) => ({ query, was: before.since(query), is: after.since(query) }))
    .sort((a, b) => b.is.msASecond - a.is.msASecond)
    .slice(0, DEAREST)
    .map(({ query, was, is }) => {
      const text = query.replaceAll(/\s+/g, ' ').slice(0, 160);
      const told = ({ msASecond, callsASecond }: typeof is) => `${digits(msASecond)} ms, ${digits(callsASecond)} calls`;
      return `a second: ${told(was)} → ${told(is)}: ${text}`;
    });
}

/** Dead rows as a share of all, in each window's samples. */
function deadRows(samples: readonly TablesAt[], { first, last }: Windows): Change {
  const of = (window: [number, number]) => {
    const sizes = within(samples, window).flatMap((sample) => [...sample.sizes.values()]);
    const sum = (pick: (size: TableSize) => number) => sizes.reduce((all, size) => all + pick(size), 0);
    return (
      sum(({ deadRows: dead }) => dead) /
      Math.max(
        1,
        sum(({ rows }) => rows),
      )
    );
  };
  return { name: 'dead rows, a share of those that are stored', first: of(first), last: of(last) };
}

/** Everything that a soak has recorded so far. */
interface Recorded {
  done: readonly Done[];
  samples: Sample[];
  cpu: Sample[];
  tables: TablesAt[];
  statements: StatementsAt[];
}

const changesOf = ({ done, samples, cpu, tables }: Recorded, windows: Windows): Change[] => [
  ...changesOfSamples(samples, windows),
  ...changesOfCpu(cpu, windows),
  ...changesOfLatency(done, windows),
  ...changesOfTables(tables, windows),
  deadRows(tables, windows),
];

const digits = (value: number) => value.toLocaleString('en', { maximumSignificantDigits: 3, useGrouping: false });

/** @returns undefined if there is no target or no measurement */
function isFlat({ first, last, target }: Change): boolean | undefined {
  if (target?.atMost === undefined || !Number.isFinite(last / first)) return undefined;
  return last <= first * target.atMost;
}

/** In the format of docs/reliability.md. */
function tableOf(changes: readonly Change[]): string {
  const verdicts = { true: 'yes', false: '**no**', undefined: '' };
  const lines = changes
    .filter(({ first, last }) => Number.isFinite(first) && Number.isFinite(last))
    .map((change) => {
      const { name, first, last } = change;
      const percent =
        first === 0 ? '' : `${last >= first ? '+' : '−'}${Math.abs(Math.round((last / first - 1) * 100))} %`;
      return `| ${name} | ${digits(first)} | ${digits(last)} | ${percent} | ${verdicts[`${isFlat(change)}`]} |`;
    });
  return ['| | first tenth | last tenth | change | at most 10 % more |', '|---|---|---|---|---|', ...lines].join('\n');
}

const rowOf = ({ name, first, last, target }: Change): Row =>
  row(`${name}, last to first`, 'times', [last / first], target);

/** Runs `work` immediately and then at an interval until `until` (`performance.now()`); a slow run delays the next. */
async function repeat(everyMs: number, until: number, work: () => Promise<void>): Promise<void> {
  for (;;) {
    const begunAt = performance.now();
    if (begunAt >= until) return;
    await work();
    await delay(Math.max(0, Math.min(begunAt + everyMs, until) - performance.now()));
  }
}

/** Appends lines of JSON to the file of samples. */
const keep = (entries: readonly object[]) =>
  appendFile(SAMPLES_FILE, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));

interface Amount {
  totalMs: number;
  /** Executions a second. */
  rate: number;
}

async function soak(
  cluster: Cluster,
  metricsPorts: readonly number[],
  { totalMs, rate }: Amount,
  { report }: Means,
): Promise<Recorded> {
  const processes: Watched[] = [
    ...[...cluster.apis, ...cluster.workers].map(({ pid }, index) => ({
      name: index < APIS ? 'the APIs' : 'the workers',
      pid,
      metricsUrl: `http://127.0.0.1:${metricsPorts[index]}/metrics`,
    })),
    { name: 'Temporal', pid: cluster.temporal.pid },
  ];
  // Each of their connections is a process, and all share their memory.
  const databases: Watched[] = [
    { name: 'Temporal’s PostgreSQL', pid: cluster.temporalPostgres.pid },
    { name: 'the service’s PostgreSQL', pid: cluster.postgres.pid },
  ];
  const [first] = cluster.apis;
  if (first === undefined) throw new Error('There are two APIs.');
  let arrived = (_ms: number) => {};
  const receivers = await startSoakReceivers((ms) => arrived(ms));
  const database = new pg.Client(cluster.postgres.url('pms'));
  await database.connect();
  await database.query('create extension pg_stat_statements');
  const control = new pg.Client(cluster.temporalPostgres.url('postgres'));
  await control.connect();
  try {
    const { hopelessId } = await prepareSoak(first, receivers);
    const startedAt = performance.now();
    const until = startedAt + totalMs;
    const load = startSoakLoad(cluster.apis, hopelessId, startedAt, rate);
    arrived = (ms) => load.note({ kind: 'event until its first attempt', ms });
    const recorded: Recorded = { done: load.done, samples: [], cpu: [], tables: [], statements: [] };
    const now = () => performance.now() - startedAt;
    let kept = 0;
    const keepDone = async () => {
      const news = load.done.slice(kept);
      kept += news.length;
      await keep(news.map((done) => ({ done })));
    };
    await Promise.all([
      repeat(SAMPLE_EVERY_MS, until, async () => {
        const sample = await sampleProcesses(processes, now());
        const times = await sampleCpu([...processes, ...databases], now());
        const askedAt = performance.now();
        await control.query(CONTROL);
        sample.values['a query that always does the same (ms)'] = performance.now() - askedAt;
        recorded.samples.push(sample);
        recorded.cpu.push(times);
        await keep([{ processes: sample }, { cpu: times }]);
      }),
      repeat(TABLES_EVERY_MS, until, async () => {
        const [at, sizes] = [now(), await sampleTables(database)];
        recorded.tables.push({ at, sizes });
        recorded.statements.push({ at: now(), times: await sampleStatements(database) });
        await keep([{ tables: { at, sizes: Object.fromEntries(sizes) } }]);
        await keepDone();
        await writeFile(TABLE_FILE, `${tableOf(changesOf(recorded, windowsOf(now())))}\n`);
        const failed = load.done.filter(({ error }) => error !== undefined).length;
        report(`${Math.round(now() / 60_000)} min: ${load.done.length} done, ${failed} failed`);
      }),
    ]);
    await load.stop();
    await keepDone();
    return recorded;
  } finally {
    await Promise.all([database.end(), control.end()]);
    await receivers.close();
  }
}

/**
 * Hours of mixed work at a constant, modest rate, on two APIs and three workers, to find what grows but should not. Compares the
 * first tenth of the time after a warm-up with the last one. Writes samples, and each minute the comparison so far, to
 * `.cache/bench`.
 */
export async function measureSoak(means: Means): Promise<Outcome> {
  const minutes = means.minutes ?? MINUTES;
  const rate = means.rate ?? RATE;
  const benchmark = `soak (${minutes} min, ${rate} executions a second beside other work, ${APIS} API and ${WORKERS} worker processes, Temporal on PostgreSQL, a model of ${MODEL_MS} ms)`;
  if (process.platform !== 'linux') return { benchmark, rows: [], skipped: 'memory and CPU times are read from /proc' };
  const metricsPorts: number[] = [];
  const settings = async () => {
    const port = await freePort();
    metricsPorts.push(port);
    return {
      METRICS_PORT: String(port),
      WEBHOOK_ALLOW_PRIVATE: 'loopback',
      WEBHOOK_TIMEOUT: '3s',
      WEBHOOK_RETRY_WAITS: '1s,2s,5s,10s,20s',
    };
  };
  const totalMs = minutes * 60_000;
  const postgresSettings = { shared_preload_libraries: 'pg_stat_statements' };
  const options = { modelMs: MODEL_MS, settings, postgresSettings };
  await mkdir(FOLDER, { recursive: true });
  await writeFile(SAMPLES_FILE, '');
  const recorded = await withCluster(means, options, (cluster) =>
    soak(cluster, metricsPorts, { totalMs, rate }, means),
  );
  const windows = windowsOf(totalMs);
  const changes = changesOf(recorded, windows);
  const dead = deadRows(recorded.tables, windows);
  const table = tableOf(changes);
  await writeFile(TABLE_FILE, `${table}\n`);
  console.log(`\n${table}\n`);
  means.report(['What PostgreSQL does most:', ...dearestStatements(recorded.statements, windows)].join('\n  '));
  const { done } = recorded;
  const failures = done.filter(({ error }) => error !== undefined);
  const kinds = [...new Set(done.map(({ kind }) => kind))];
  return {
    benchmark,
    rows: [
      ...kinds.map((kind) => row(`${kind}: in all`, '', [done.filter((entry) => entry.kind === kind).length])),
      row('failed', '', [failures.length], { atMost: 0 }),
      ...changes.filter(({ target, first, last }) => target !== undefined && Number.isFinite(last / first)).map(rowOf),
      row('dead rows at the end, a share of those that are stored', '', [dead.last], { atMost: VACUUM_SHARE }),
    ],
    notes: [...new Set(failures.map(({ kind, error }) => `${kind}: ${error}`))].slice(0, 10),
  };
}
