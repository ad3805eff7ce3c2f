import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { cleanUpStreams } from '../../src/jobs/clean-up-streams.ts';
import { createTestDatabase } from '../support/database.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let rows: ExecutionRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  rows = await executionRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const never = () => new AbortController().signal;

/** An execution with some rows, which ended that long ago (undefined if it is running). */
async function streamed(endedSecondsAgo?: number): Promise<string> {
  const id = await rows.queue({ status: endedSecondsAgo === undefined ? 'running' : 'completed' });
  await db.system.query(
    {
      text: `with ended as (update executions set finished_at = now() - make_interval(secs => $2) where id = $1 returning *)
             insert into stream_deltas (execution_id, attempt, sequence, workspace_id, type, data)
             select id, 1, n, workspace_id, 'text', 'word' from ended, generate_series(2, 30) as n`,
    },
    [id, endedSecondsAgo ?? null],
  );
  return id;
}

async function withRows(): Promise<string[]> {
  const found = await db.system.query((all) => all.selectFrom('stream_deltas').select('execution_id as id').distinct());
  return found.map(({ id }) => id).sort();
}

test('rows are deleted after the end, and with their execution', async () => {
  const [running, justEnded] = [await streamed(), await streamed(60)];
  for (let count = 0; count < 50; count += 1) await streamed(600);
  const deleted = await streamed(60);
  await rows.remove(deleted);
  await Promise.all([cleanUpStreams(db.system, never()), cleanUpStreams(db.system, never())]);
  expect(await withRows()).toEqual([running, justEnded].sort());
  await cleanUpStreams(db.system, AbortSignal.abort(), 0);
  expect(await withRows()).toHaveLength(2);
  await cleanUpStreams(db.system, never(), 1_000);
  expect(await withRows()).toEqual([running]);
});

test('the table is not in the write-ahead log', async () => {
  const [table] = await db.system.query<{ relpersistence: string }>({
    text: `select relpersistence from pg_class where relname = 'stream_deltas'`,
  });
  expect(table?.relpersistence).toBe('u');
});
