import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import pino from 'pino';
import { type Database, openDatabase } from '../src/db/database.ts';
import { migrate } from '../src/db/migrate.ts';
import { newId } from '../src/domain/ids.ts';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';
import { keepSearchIndex } from '../src/jobs/keep-search-index.ts';
import { searchExecutions } from '../src/services/search/find-executions.ts';
import { cpuOf } from './cpu.ts';
import type { Means } from './means.ts';
import { type Outcome, type Row, row } from './report.ts';

/** Number of executions; `SEARCH_ROWS` overrides it. */
const ROWS = Number(process.env['SEARCH_ROWS'] ?? 1_000_000);
const SEEDED_AT_ONCE = 20_000;
const DAYS = 90;
/** Executions that are stored and indexed as they end. */
const NEW_ROWS = 2_000;
const ROUNDS = 40;
const PAGE = 50;

/** The words of a text: `w1` is in nearly every one, `w19999` in one of 2,000. */
const TEXT = `(select string_agg('w' || floor(20000 ^ random())::int, ' ') from generate_series(1, 100) where n is not null) || ' id' || n`;
const INSERT = `insert into executions (workspace_id, id, status, model, provider, parameters, variables, metadata, input, output, created_at, finished_at)
  select $1::uuid, id, 'completed', 'sandbox/echo', 'sandbox', '{}', '{}', '{}', 'a question', ${TEXT}, now(), now()
  from unnest($2::uuid[], $3::int[]) as given(id, n)`;

const SEARCHES: Record<string, string[]> = {
  'a rare word, or its beginning': ['id4711'],
  'a word in one of 2,000': ['w19999'],
  'a word in one of 5': ['w50'],
  'a word in most': ['w2'],
  'a prefix, rare': ['id471'],
  'a phrase, rare': ['w19998 w19999'],
  'a phrase, frequent': ['w1 w2'],
  'three words, rare': ['w1', 'w77', 'w19999'],
  'no match': ['nowhere'],
};

const p95 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;
const never = new AbortController().signal;

async function numberOf({ system }: Database, expression: string): Promise<number> {
  const [found] = await system.query<{ value: number }>({ text: `select (${expression})::float8 as value` });
  return found?.value ?? Number.NaN;
}
const WAL = `pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')`;

/** What searches take with and without the index of texts, and what the index takes. */
export async function measureSearch({ report, rounds = ROUNDS }: Means): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-bench-'));
  const postgres = await startPostgres({ dataDir: path.join(folder, 'postgres'), log: () => {} });
  const url = postgres.url('pms');
  await migrate(url);
  const db = await openDatabase(url, { poolSize: 4, statementTimeoutMs: 0 });
  const own = newId();
  const rows: Row[] = [];

  /** @param firstDay the age of the first of them */
  async function add(from: number, count: number, firstDay: number, triggers: boolean): Promise<void> {
    const numbers = Array.from({ length: count }, (_, at) => from + at);
    const ids = numbers.map((_, at) => newId(new Date(Date.now() - firstDay * 86_400_000 * (1 - at / count))));
    for (let at = 0; at < count; at += SEEDED_AT_ONCE)
      await db.system.transaction(
        async (query) => {
          if (!triggers) await query({ text: 'set local session_replication_role = replica' });
          await query({ text: INSERT }, [
            own,
            ids.slice(at, at + SEEDED_AT_ONCE),
            numbers.slice(at, at + SEEDED_AT_ONCE),
          ]);
        },
        { statementTimeoutMs: 0 },
      );
  }

  /** CPU and log of some work, for each of `count` executions. */
  async function costsOf(name: string, count: number, work: () => Promise<void>): Promise<void> {
    const before = await numberOf(db, WAL);
    const { cpuMs } = await cpuOf({ node: [process.pid], postgres: [postgres.pid] }, work);
    // PostgreSQL is a child of this process.
    const node = cpuMs.node - cpuMs.postgres;
    rows.push(row(`${name}: Node.js`, 'µs of CPU', [(node * 1000) / count]));
    rows.push(row(`${name}: PostgreSQL`, 'µs of CPU', [(cpuMs.postgres * 1000) / count]));
    rows.push(row(`${name}: write-ahead log`, 'bytes', [((await numberOf(db, WAL)) - before) / count]));
  }

  const store = (from: number, isIndexed: boolean) => async () => {
    for (let at = 0; at < NEW_ROWS; at += 1) await add(from + at, 1, 0, true);
    if (isIndexed) await keepSearchIndex(db.system, true, pino({ level: 'silent' }), never);
  };

  async function search(side: string): Promise<void> {
    for (const [name, terms] of Object.entries(SEARCHES)) {
      const timesMs: number[] = [];
      let [found, more] = [0, false];
      for (let round = -2; round < rounds; round += 1) {
        const started = performance.now();
        const page = await searchExecutions(db.workspace(own), { terms }, PAGE, undefined);
        if (round >= 0) timesMs.push(performance.now() - started);
        [found, more] = [page.rows.length, page.next !== undefined];
      }
      const times = `${p95(timesMs).toFixed(1)} ms, ${found} found${more ? ', more follow' : ''}`;
      report(`${name}, ${side}: ${times}`);
      rows.push(row(`${name}, ${side} (${found} found${more ? ', more follow' : ''}): p95`, 'ms', [p95(timesMs)]));
    }
  }

  try {
    await db.system.query(
      {
        text: `insert into workspaces (id, name, owner_email, created_at) values ($1, 'bench', 'owner@example.test', now())`,
      },
      [own],
    );
    report(`storing ${ROWS} executions`);
    await add(0, ROWS, DAYS, false);
    await db.system.query({ text: 'vacuum analyze executions' });
    await costsOf('a new execution, without', NEW_ROWS, store(ROWS, false));
    await search('without');
    report('building the index');
    const started = performance.now();
    await costsOf('an old execution in the index', ROWS, () =>
      keepSearchIndex(db.system, true, pino({ level: 'silent' }), never),
    );
    rows.push(row('building the index', 's', [(performance.now() - started) / 1000]));
    await costsOf('a new execution, with', NEW_ROWS, store(ROWS + NEW_ROWS, true));
    for (const table of ['executions', 'search_words'])
      rows.push(row(`${table}: disk`, 'bytes', [(await numberOf(db, `pg_total_relation_size('${table}')`)) / ROWS]));
    await db.system.query({ text: 'vacuum analyze search_words' });
    await search('with');
  } finally {
    await db.close();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return { benchmark: `searches of ${ROWS} executions, with and without an index`, rows };
}
