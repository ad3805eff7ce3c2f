import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase, type Query } from '../../src/db/database.ts';
import { DatabaseUnavailableError, ReadGivenUpError, ReadTimeoutError } from '../../src/db/errors.ts';
import { newId } from '../../src/domain/ids.ts';
import { toApiError } from '../../src/http/middleware/error-responses.ts';
import { STATUS_OF_CODE } from '../../src/http/status.ts';
import { createTestDatabase } from '../support/database.ts';
import { waitFor } from '../support/wait-for.ts';

const LOCK = 4_711;
const WAIT_FOR_LOCK = {
  text: `select pg_advisory_xact_lock_shared(${LOCK}) /* workspace_id = $1 */ where $1::uuid is not null`,
};
const READ = { text: 'select $1::uuid as workspace_id' };
const SLEEP = { text: 'select pg_sleep(60) /* workspace_id = $1 */ where $1::uuid is not null' };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const [mine, theirs] = [newId(), newId()];

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 2 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('a statement has one core, however much it reads', async () => {
  const plan = {
    text: `explain select count(*) from executions where $1::uuid is not null and workspace_id = $1`,
  };
  const planOf = async (query: Query, settings: string[]) => {
    for (const text of settings) await query({ text });
    return JSON.stringify(await query(plan, [mine]));
  };
  // Makes PostgreSQL plan in parallel whenever possible.
  const wherePossible = ['set local debug_parallel_query = on'];
  const { transaction } = db.system;
  expect(
    await transaction((query) => planOf(query, [...wherePossible, 'set local max_parallel_workers_per_gather = 2'])),
  ).toContain('Gather');
  expect(await transaction((query) => planOf(query, wherePossible))).not.toContain('Gather');
  const shown = {
    text: `select current_setting('max_parallel_workers_per_gather') as value, $1::uuid as workspace_id`,
  };
  expect(await db.workspace(mine).heavy.query(shown)).toEqual([{ value: '0', workspace_id: mine }]);
});

test('heavy reads of one workspace, however many, do not delay another or anything else', async () => {
  await db.system.transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(${LOCK})` });
    let ended = 0;
    const stuck = Array.from({ length: 40 }, async () => {
      await db.workspace(mine).heavy.query(WAIT_FOR_LOCK);
      ended += 1;
    });
    const waiting = { text: `select 1 from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted` };
    await waitFor('a read that waits', async () => (await query(waiting)).length > 0);
    expect(await db.workspace(theirs).heavy.query(READ)).toEqual([{ workspace_id: theirs }]);
    const sum = await db
      .workspace(theirs)
      .heavy.transaction(async (inner) => [...(await inner(READ)), ...(await inner(READ))]);
    expect(sum).toHaveLength(2);
    expect(await db.workspace(mine).query(READ)).toEqual([{ workspace_id: mine }]);
    expect(ended).toBe(0);
    await query({ text: 'commit' });
    await Promise.all(stuck);
  });
});

test('a request given up in the queue leaves it, and is not read', async () => {
  await db.system.transaction(async (query) => {
    await query({ text: `select pg_advisory_xact_lock(${LOCK})` });
    const gone = new AbortController();
    const stuck = Array.from({ length: 40 }, () => db.workspace(mine).heavy.query(WAIT_FOR_LOCK));
    const leaving = db.workspace(mine, () => gone.signal).heavy;
    const given = [leaving.query(READ), leaving.transaction((inner) => inner(READ))];
    gone.abort();
    for (const each of given) await expect(each).rejects.toBeInstanceOf(ReadGivenUpError);
    expect(toApiError(await given[0]?.catch((error: unknown) => error))).toMatchObject({ code: 'rate_limited' });
    await query({ text: 'commit' });
    await Promise.all(stuck);
  });
  expect(await db.workspace(mine).heavy.query(READ)).toEqual([{ workspace_id: mine }]);
});

test('a heavy transaction sees one state of the database and changes nothing', async () => {
  const count = { text: 'select count(*)::int as n from workspaces where $1::uuid is not null /* workspace_id */' };
  const insert = { text: 'insert into workspaces (id, name, owner_email, created_at) values ($1, $2, $3, now())' };
  await db.workspace(mine).heavy.transaction(async (query) => {
    const before = await query(count);
    await db.system.query(insert, [newId(), 'meanwhile', 'a@b']);
    expect(await query(count)).toEqual(before);
  });
  const write = { text: 'delete from prompts where workspace_id = $1' };
  await expect(db.workspace(mine).heavy.transaction((query) => query(write))).rejects.toThrow(/read-only/);
  await expect(db.workspace(mine).heavy.query({ text: 'select 1 from prompts' })).rejects.toThrow(/not bound/);
});

test('a statement that takes too long is canceled: a heavy read is a request error, any other an outage', async () => {
  const hasty = await openDatabase(database.url, { poolSize: 2, statementTimeoutMs: 100 });
  try {
    const workspace = hasty.workspace(mine);
    for (const heavy of [workspace.heavy.query(SLEEP), workspace.heavy.transaction((query) => query(SLEEP))]) {
      const error = await heavy.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ReadTimeoutError);
      expect(toApiError(error)).toMatchObject({ code: 'invalid_request' });
      expect(STATUS_OF_CODE[toApiError(error).code]).toBe(400);
    }
    for (const other of [workspace.query(SLEEP), workspace.transaction((query) => query(SLEEP))]) {
      const error = await other.catch((thrown: unknown) => thrown);
      expect(toApiError(error)).toMatchObject({ code: 'temporarily_unavailable' });
      expect(STATUS_OF_CODE[toApiError(error).code]).toBe(500);
    }
    await expect(hasty.system.query({ text: 'select pg_sleep(60)' })).rejects.toThrow(DatabaseUnavailableError);
    // Background work on many rows declares itself.
    await hasty.system.transaction((query) => query({ text: 'select pg_sleep(0.3)' }), { statementTimeoutMs: 0 });
    // The connection is unchanged.
    for (let connection = 0; connection < 4; connection++)
      await expect(hasty.system.query({ text: 'select pg_sleep(60)' })).rejects.toThrow(DatabaseUnavailableError);
  } finally {
    await hasty.close();
  }
});

test('a transaction with a cut connection is an outage, not the end of the process', async () => {
  const work = db.workspace(mine).heavy.transaction(async (query) => {
    const text = 'select pg_backend_pid() as pid /* workspace_id = $1 */ where $1::uuid is not null';
    const [backend] = await query<{ pid: number }>({ text });
    await db.system.query({ text: 'select pg_terminate_backend($1, 5000)' }, [backend?.pid]);
    await query(READ);
  });
  await expect(work).rejects.toThrow(DatabaseUnavailableError);
  expect(await db.workspace(mine).heavy.query(READ)).toEqual([{ workspace_id: mine }]);
});
