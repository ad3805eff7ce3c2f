import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { ExampleStore } from '../../../src/activities/evaluation-run/example-store.ts';
import { RunFailedError } from '../../../src/activities/scoring/run-failed-error.ts';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { createQuery } from '../../../src/db/query.ts';
import { newId } from '../../../src/domain/ids.ts';
import { createTestDatabase } from '../../support/database.ts';
import { seedEvaluation, seedExamples } from '../../support/seed-rows.ts';
import { waitFor } from '../../support/wait-for.ts';

const EXAMPLES = 6;
const SEQS = Array.from({ length: EXAMPLES }, (_, seq) => seq);

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let locker: pg.Client;
const workspaceId = newId();
let examplesId: string;
let evaluationId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 10 });
  locker = new pg.Client(database.url);
  await locker.connect();
  await db.system.query({
    text: `alter table evaluation_results add check (output is null or output not like '%poison%'),
             add check (scores is null or scores::text not like '%poison%')`,
  });
  await db.system.query({
    text: `alter table evaluation_judgements add check (answer is null or answer not like '%poison%')`,
  });
  examplesId = await seedExamples(db.system.query, { workspaceId, count: EXAMPLES });
});
afterAll(async () => {
  await locker?.end();
  await db?.close();
  await database?.drop();
});
beforeEach(async () => {
  evaluationId = await seedEvaluation(db.system.query, { workspaceId, count: 0, days: 1, status: 'running' });
  await db.system.query({ text: 'delete from usage_entries' });
});

/** A store as a batch has one, and how many statements it has run. */
function openStore() {
  const counts = { statements: 0 };
  const query = createQuery((statement, values) => {
    counts.statements += 1;
    return db.system.query(statement, values);
  });
  return {
    counts,
    store: new ExampleStore(query, evaluationId, { examplesId, round: 0 }, new AbortController().signal),
  };
}

const spent = {
  tokens: { input: 10, output: 20, cached_input: 1, reasoning: 2, total: 30 },
  cost: { amount: '0.01', currency: 'USD' as const, pricing: null },
};
const response = (output: string) => ({
  ...spent,
  output,
  finishReason: 'stop' as const,
  toolCalls: [],
  modelMs: 5,
  providerModel: null,
  attempts: 1,
  model: 'sandbox/echo',
});
const scored = (output: string) => ({ status: 'scored' as const, response: response(output), score: 1, scores: {} });

interface StoredRow {
  seq: number;
  status: string;
  output: string | null;
  attempts: number;
  cost: number;
}

const storedRows = () =>
  db.system.query<StoredRow & pg.QueryResultRow>(
    {
      text: `select seq, status, output, attempts, cost_amount::float8 as cost from evaluation_results where evaluation_id = $1 order by seq`,
    },
    [evaluationId],
  );

async function usage(): Promise<{ calls: number; cost: number } | undefined> {
  const [row] = await db.system.query<{ calls: number; cost: number }>({
    text: 'select sum(calls)::int as calls, sum(cost_amount)::float8 as cost from usage_entries',
  });
  return row;
}

/** Blocks statements on the table from here on. @returns a function that releases them */
async function lock(table: string): Promise<() => Promise<unknown>> {
  await locker.query('begin');
  await locker.query(`lock table ${table} in share mode`);
  return () => locker.query('commit');
}

/** The backend whose statement waits for the lock. */
const untilOneWaits = () =>
  waitFor('a statement to wait for the lock', async () => {
    const { rows } = await locker.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows[0]?.pid;
  });

test('results that arrive during a statement are stored by the next one', async () => {
  const { store, counts } = openStore();
  const release = await lock('evaluation_results');
  const stored = SEQS.toReversed().map((seq) => store.storeResult(seq, scored(`answer, "${seq}" \\ {}`)));
  await untilOneWaits();
  expect(counts.statements).toBe(1);
  await release();
  expect(await Promise.all(stored)).toEqual(SEQS.map(() => true));
  expect(counts.statements).toBe(2);
  expect(await storedRows()).toEqual(
    SEQS.map((seq) => ({ seq, status: 'scored', output: `answer, "${seq}" \\ {}`, attempts: 1, cost: 0.01 })),
  );
  expect(await usage()).toEqual({ calls: EXAMPLES, cost: 0.06 });
});

test('a result refused by the database fails alone, with cost', async () => {
  const { store } = openStore();
  const stored = SEQS.map((seq) => store.storeResult(seq, scored(seq === 3 ? 'poison' : 'fine')));
  expect(await Promise.all(stored)).toEqual(SEQS.map((seq) => seq !== 3));
  const rows = await storedRows();
  expect(rows.map(({ status }) => status)).toEqual(SEQS.map((seq) => (seq === 3 ? 'failed' : 'scored')));
  expect(rows[3]).toMatchObject({ output: null, attempts: 1, cost: 0.01 });
  expect(store.failed).toBe(1);
  expect(await usage()).toEqual({ calls: EXAMPLES, cost: 0.06 });
});

test('a statement whose connection dies is repeated, and counts once', async () => {
  const { store } = openStore();
  const release = await lock('evaluation_results');
  const stored = SEQS.map((seq) => store.storeResult(seq, scored('fine')));
  await locker.query('select pg_terminate_backend($1)', [await untilOneWaits()]);
  await release();
  await Promise.all(stored);
  expect((await storedRows()).map(({ attempts, cost }) => [attempts, cost])).toEqual(SEQS.map(() => [1, 0.01]));
  expect(await usage()).toEqual({ calls: EXAMPLES, cost: 0.06 });
});

test('two workers that paid for the same examples store both costs and the first answers', async () => {
  const first = openStore().store;
  await Promise.all(SEQS.map((seq) => first.storeResult(seq, scored('first'))));
  const [second, third] = [openStore().store, openStore().store];
  await Promise.all([
    ...SEQS.map((seq) => second.storeResult(seq, scored('second'))),
    ...SEQS.toReversed().map((seq) => third.storeResult(seq, scored('third'))),
  ]);
  expect(await storedRows()).toEqual(
    SEQS.map((seq) => ({ seq, status: 'scored', output: 'first', attempts: 3, cost: 0.03 })),
  );
});

test('every result reports that its run is gone', async () => {
  const { store } = openStore();
  await db.system.query({ text: 'delete from evaluations where id = $1' }, [evaluationId]);
  const stored = await Promise.allSettled(SEQS.map((seq) => store.storeResult(seq, scored('late'))));
  for (const result of stored) expect(result).toMatchObject({ status: 'rejected', reason: expect.any(RunFailedError) });
});

test('judgements are stored together, too; one that the database refuses is billed', async () => {
  const { store, counts } = openStore();
  const release = await lock('evaluation_judgements');
  const judgement = (seq: number) => ({
    response: seq === 2 ? 'poison' : `{"${seq}"}`,
    asks: 1,
    spent,
    assumedUsd: undefined,
  });
  const stored = Promise.allSettled(SEQS.map((seq) => store.storeJudgement(seq, 'judge', judgement(seq))));
  await untilOneWaits();
  expect(counts.statements).toBe(1);
  await release();
  expect((await stored).map(({ status }) => status)).toEqual(SEQS.map((seq) => (seq === 2 ? 'rejected' : 'fulfilled')));
  expect(await Promise.all(SEQS.map((seq) => store.loadJudgement(seq, 'judge')))).toEqual(
    SEQS.map((seq) => (seq === 2 ? undefined : { response: `{"${seq}"}`, asks: 1 })),
  );
  expect(await usage()).toEqual({ calls: EXAMPLES, cost: 0.06 });
});

test('scores of stored outputs are stored together; a refused one fails alone', async () => {
  const { store, counts } = openStore();
  await Promise.all(SEQS.map((seq) => store.storeResult(seq, { status: 'answered', response: response('fine') })));
  counts.statements = 0;
  const release = await lock('evaluation_results');
  const reason = (seq: number) => (seq === 4 ? 'poison' : 'as expected');
  const stored = SEQS.map((seq) =>
    store.storeScore(seq, {
      status: 'scored',
      score: seq / 10,
      scores: { exact: { score: seq / 10, reason: reason(seq) } },
    }),
  );
  await untilOneWaits();
  expect(counts.statements).toBe(1);
  await release();
  await Promise.all(stored);
  const rows = await db.system.query(
    { text: 'select seq, status, score, scores from evaluation_results where evaluation_id = $1 order by seq' },
    [evaluationId],
  );
  expect(rows).toEqual(
    SEQS.map((seq) =>
      seq === 4
        ? { seq, status: 'failed', score: null, scores: null }
        : { seq, status: 'scored', score: seq / 10, scores: { exact: { score: seq / 10, reason: 'as expected' } } },
    ),
  );
  expect(store.failed).toBe(1);
});
