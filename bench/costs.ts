import { stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { startHelper } from './child.ts';
import { cpuOf } from './cpu.ts';
import { executionLoad, LoadResult } from './load.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';
import { startServers } from './servers.ts';
import { startService } from './service.ts';
import { startModel } from './stand-in.ts';

const MODEL_MS = 200;
const CALLERS = 20;
const FLUSH_MS = 3_000;
const WARM_UP = 200;
const EXECUTIONS = 5_000;
/** Executions per round if `--rounds` is set. */
const EXECUTIONS_A_ROUND = 500;

const Numbers = z.record(z.string(), z.coerce.number());
const Table = z.object({ name: z.string(), rows: z.coerce.number(), bytes: z.coerce.number() });
type Table = z.infer<typeof Table>;

async function tablesOf(database: pg.Client): Promise<Table[]> {
  // Backends report their statistics once they have been idle for a while.
  await delay(FLUSH_MS);
  const { rows } = await database.query(
    'select relname as name, n_tup_ins as rows, pg_total_relation_size(relid) as bytes from pg_stat_user_tables',
  );
  return z.array(Table).parse(rows);
}

/** Monotonic counters of the whole database. */
async function countersOf(database: pg.Client): Promise<Record<string, number>> {
  const { rows } = await database.query(`
    select (select sum(calls) from pg_stat_statements where dbid = d.oid) statements,
      pg_stat_get_db_xact_commit(d.oid) transactions, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') wal
    from pg_database d where d.datname = current_database()`);
  return Numbers.parse(rows[0]);
}

/** The cost of an execution: CPU by process, statements, rows and bytes, averaged over some thousand. */
export async function measureCosts({ report, rounds, profileFolder }: Means): Promise<Outcome> {
  const count = rounds === undefined ? EXECUTIONS : rounds * EXECUTIONS_A_ROUND;
  const benchmark = `costs of an execution (${count} of them, ${CALLERS} callers, a model of ${MODEL_MS} ms)`;
  if (process.platform !== 'linux') return { benchmark, rows: [], skipped: 'CPU times are read from /proc' };
  const servers = await startServers(report, { shared_preload_libraries: 'pg_stat_statements' });
  const model = await startModel(MODEL_MS);
  const service = await startService(servers, model.settings, profileFolder);
  const http = await startHelper('http-load.ts');
  const database = new pg.Client(servers.databaseUrl);
  await database.connect();
  try {
    await database.query('create extension pg_stat_statements');
    await service.call('POST', '/prompts', {
      name: 'bench',
      template: 'Greet {{ name }} in one sentence.',
      model: 'openai/gpt-4o-mini',
    });
    const execute = (executions: number) =>
      http.ask(
        {
          ...executionLoad(service),
          callers: CALLERS,
          count: executions,
        },
        LoadResult,
      );
    const temporalFile = path.join(servers.folder, 'temporal', 'temporal.db');
    const temporalBytes = async () => (await stat(temporalFile)).size;
    await execute(WARM_UP);
    const before = {
      tables: new Map((await tablesOf(database)).map((table) => [table.name, table])),
      counters: await countersOf(database),
      temporal: await temporalBytes(),
    };
    const processes = {
      Node: [service.pid],
      Temporal: [servers.pids.temporal],
      PostgreSQL: [servers.pids.postgres],
    };
    const { result, cpuMs } = await cpuOf(processes, () => execute(count));
    await delay(FLUSH_MS);
    const counters = await countersOf(database);
    const temporal = (await temporalBytes()) - before.temporal;
    await database.query('vacuum');
    const tables = (await tablesOf(database))
      .map(({ name, rows, bytes }) => {
        const old = before.tables.get(name);
        return { name, rows: rows - (old?.rows ?? 0), bytes: bytes - (old?.bytes ?? 0) };
      })
      .filter(({ rows }) => rows > count / 100);
    const each = (name: string, unit: string, total: number): Row => row(name, unit, [total / count]);
    const counter = (name: string) => (counters[name] ?? Number.NaN) - (before.counters[name] ?? Number.NaN);
    return {
      benchmark,
      rows: [
        row('rate', '/s', [result.requests / result.seconds]),
        ...Object.entries(cpuMs).map(([name, ms]) => each(`CPU of ${name}`, 'ms', ms)),
        each('statements, begin and commit included', '', counter('statements')),
        each('transactions', '', counter('transactions')),
        each('write-ahead log', 'bytes', counter('wal')),
        ...tables.map(({ name, rows }) => each(`rows in ${name}`, '', rows)),
        ...tables.map(({ name, bytes }) => each(`bytes of ${name}, with its indexes`, 'bytes', bytes)),
        each(
          'bytes of all these',
          'bytes',
          tables.reduce((sum, { bytes }) => sum + bytes, 0),
        ),
        each('bytes of Temporal’s SQLite file', 'bytes', temporal),
      ],
    };
  } finally {
    await database.end();
    await http.stop();
    await service.stop();
    await model.stop();
    await servers.stop();
  }
}
