import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { DatabaseUnavailableError } from '../../src/db/errors.ts';
import { inStates } from '../../src/db/state-change.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../src/domain/execution-states.ts';
import { reconcile } from '../../src/jobs/reconcile.ts';
import { captureLog } from '../support/captured-log.ts';
import { createTestDatabase } from '../support/database.ts';
import { overdueRows } from '../support/overdue-rows.ts';
import { type ExecutionRows, executionRows } from '../support/processes-rows.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let rows: ExecutionRows;
const { log, lines: logged } = captureLog();
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  rows = await executionRows(db);
});
beforeEach(async () => {
  logged.length = 0;
  await db.system.query({ text: 'delete from executions' });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const turn = (look: (row: { id: string }) => Promise<void>) =>
  reconcile(
    { db, log },
    {
      table: 'executions',
      due: inStates(executionStates, UNFINISHED_EXECUTION),
      read: (query) => query.selectFrom('taken').select('id'),
      reconcile: look,
    },
  );
const queue = (count: number, ageSeconds: number) =>
  Promise.all(Array.from({ length: count }, () => rows.queue({ ageSeconds })));
const secondsToCheck = (id: string) => overdueRows(db.system.query, 'executions').secondsToCheck(id);

test('checks overdue rows and nothing else, more than a batch, with limited concurrency', async () => {
  const overdue = await queue(130, 40);
  await queue(5, 10);
  const seen: string[] = [];
  let underWay = 0;
  let most = 0;
  await turn(async ({ id }) => {
    most = Math.max(most, ++underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.push(id);
    underWay -= 1;
  });
  expect(seen.toSorted()).toEqual(overdue.toSorted());
  expect(most).toBe(20);
  await turn(() => Promise.reject(new Error('There was something left.')));
  expect(logged).toEqual([]);
});

test('several processes share the rows', async () => {
  const overdue = await queue(60, 40);
  const seen: string[] = [];
  const look = async ({ id }: { id: string }) => void seen.push(id);
  await Promise.all([turn(look), turn(look), turn(look)]);
  expect(seen.toSorted()).toEqual(overdue.toSorted());
});

test('a row that fails is logged and deferred, and delays no other', async () => {
  const bad = await queue(25, 60);
  const good = await queue(25, 40);
  const seen: string[] = [];
  await turn(async ({ id }) => {
    if (bad.includes(id)) throw new Error('This row is bad.');
    seen.push(id);
  });
  expect(seen.toSorted()).toEqual(good.toSorted());
  expect(logged.map(({ table, id }) => `${String(table)} ${String(id)}`).toSorted()).toEqual(
    bad.map((id) => `executions ${id}`).toSorted(),
  );
  expect(await secondsToCheck(bad[0] ?? '')).toBeGreaterThan(25);
});

test('the older a row, the longer until the next check, ten minutes at most', async () => {
  const [young, older, old] = [(await queue(1, 31))[0], (await queue(1, 300))[0], (await queue(1, 86_400))[0]];
  await turn(async () => {});
  const waits = await Promise.all([young, older, old].map((id) => secondsToCheck(id ?? '')));
  expect(waits.map((seconds) => Math.round(seconds / 20) * 20)).toEqual([40, 300, 600]);
});

test('in an outage the round ends, and unchecked rows come first when it is over', async () => {
  const overdue = await queue(90, 3_600);
  const asked: string[] = [];
  const away = async ({ id }: { id: string }) => {
    asked.push(id);
    throw new DatabaseUnavailableError(new Error('away'));
  };
  await expect(turn(away)).rejects.toThrow('unreachable');
  expect(asked.length).toBeLessThanOrEqual(20);
  const seen: string[] = [];
  await turn(async ({ id }) => void seen.push(id));
  expect(seen.toSorted()).toEqual(overdue.filter((id) => !asked.includes(id)).toSorted());
  expect(await secondsToCheck(asked[0] ?? '')).toBeLessThanOrEqual(30);
});
