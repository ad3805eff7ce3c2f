import { readdir, readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import type pg from 'pg';
import { z } from 'zod';
import { cpuMsOf } from './cpu.ts';

const MIB = 1024 * 1024;

/** A process of the service, or a server, to sample. */
export interface Watched {
  /** Processes with the same name are summed. */
  name: string;
  pid: number;
  /** `GET /metrics`; absent for processes that are not the service's. */
  metricsUrl?: string;
}

/** A set of numbers at one moment, by name with the unit in parentheses. */
export interface Sample {
  /** Since the start of the soak, in milliseconds. */
  at: number;
  values: Record<string, number>;
}

/** The service's metrics to record. */
const NODE_METRICS: Record<string, { name: string; factor: number }> = {
  nodejs_heap_size_used_bytes: { name: 'heap in use (MiB)', factor: 1 / MIB },
  nodejs_external_memory_bytes: { name: 'memory outside the heap (MiB)', factor: 1 / MIB },
  nodejs_active_handles_total: { name: 'handles', factor: 1 },
  nodejs_eventloop_lag_mean_seconds: { name: 'event-loop delay, mean (ms)', factor: 1_000 },
  nodejs_eventloop_lag_p99_seconds: { name: 'event-loop delay, p99 (ms)', factor: 1_000 },
};
/** Delays are averaged, not summed. */
const isAverage = (name: string) => name.startsWith('event-loop');

async function numbersOf({ pid, metricsUrl }: Watched): Promise<Record<string, number>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const numbers: Record<string, number> = {
    'resident memory (MiB)': field('VmRSS') / 1024,
    'open files and sockets': (await readdir(`/proc/${pid}/fd`)).length,
    threads: field('Threads'),
  };
  if (metricsUrl === undefined) return numbers;
  const text = await (await fetch(metricsUrl)).text();
  for (const [metric, { name, factor }] of Object.entries(NODE_METRICS)) {
    const value = new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)?.[1];
    if (value !== undefined) numbers[name] = Number(value) * factor;
  }
  return numbers;
}

/** Memory, files, threads and delays of processes, and the load of the machine. */
export async function sampleProcesses(watched: readonly Watched[], at: number): Promise<Sample> {
  const values: Record<string, number> = { 'load average of the machine': loadavg()[0] ?? Number.NaN };
  const counts = new Map<string, number>();
  for (const process of watched) counts.set(process.name, (counts.get(process.name) ?? 0) + 1);
  for (const process of watched) {
    for (const [name, value] of Object.entries(await numbersOf(process))) {
      const key = `${process.name}: ${name}`;
      const share = isAverage(name) ? value / (counts.get(process.name) ?? 1) : value;
      values[key] = (values[key] ?? 0) + share;
    }
  }
  return { at, values };
}

/** CPU time of each kind of process so far. */
export async function sampleCpu(watched: readonly Watched[], at: number): Promise<Sample> {
  const values: Record<string, number> = {};
  for (const name of new Set(watched.map((process) => process.name))) {
    const pids = watched.filter((process) => process.name === name).map(({ pid }) => pid);
    values[`${name}: CPU time`] = await cpuMsOf(pids);
  }
  return { at, values };
}

const Table = z.object({
  name: z.string(),
  table_bytes: z.coerce.number(),
  index_bytes: z.coerce.number(),
  dead: z.coerce.number(),
});

/** The size of a database table at one moment. */
export interface TableSize {
  tableBytes: number;
  indexBytes: number;
  rows: number;
  deadRows: number;
}

const TABLES = `
  select c.relname as name, pg_table_size(c.oid) as table_bytes, pg_indexes_size(c.oid) as index_bytes,
    coalesce(s.n_dead_tup, 0) as dead
  from pg_class c left join pg_stat_user_tables s on s.relid = c.oid
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`;

/** Sizes of all tables, with row counts. */
export async function sampleTables(database: pg.Client): Promise<Map<string, TableSize>> {
  const { rows } = await database.query(TABLES);
  const sizes = new Map<string, TableSize>();
  for (const { name, table_bytes, index_bytes, dead } of z.array(Table).parse(rows)) {
    const counted = await database.query(`select count(*) as rows from "${name}"`);
    sizes.set(name, {
      tableBytes: table_bytes,
      indexBytes: index_bytes,
      rows: z.coerce.number().parse(counted.rows[0]?.rows),
      deadRows: dead,
    });
  }
  return sizes;
}

/** PostgreSQL's work for each statement since its start, by text. */
export type StatementTimes = Map<string, { calls: number; ms: number }>;

const Statement = z.object({ query: z.string(), calls: z.coerce.number(), ms: z.coerce.number() });

const STATEMENTS = `
  select query, sum(calls) as calls, sum(total_exec_time) as ms from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) group by query`;

/** The extension must be loaded and created. */
export async function sampleStatements(database: pg.Client): Promise<StatementTimes> {
  const { rows } = await database.query(STATEMENTS);
  return new Map(
    z
      .array(Statement)
      .parse(rows)
      .map(({ query, calls, ms }) => [query, { calls, ms }]),
  );
}
