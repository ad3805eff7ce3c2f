import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { findPast } from '../../../src/services/rules/find-past.ts';
import { loadRuleSpec, type RuleSpec, type RuleWork } from '../../../src/services/rules/rule-work.ts';
import { createTestDatabase } from '../../support/database.ts';
import { type RuleRows, ruleRows } from '../../support/rule-rows.ts';

let database: { url: string; drop(): Promise<void> };
let db: Database;
let rows: RuleRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  rows = await ruleRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const find = (work: RuleWork, spec: RuleSpec) => findPast(db.workspace(rows.workspaceId).query, work, spec);

async function load(work: RuleWork): Promise<RuleSpec> {
  const spec = await loadRuleSpec(db.system.query, work);
  if (spec === undefined) throw new Error('It does not run.');
  return spec;
}

async function progress(id: string): Promise<{ looked: number; found: number; exhausted: boolean }> {
  const [row] = await db.system.query<{ looked: number; found: number; exhausted: boolean }>(
    {
      text: `select (select count(*) from executions e where e.id <= b.position) as looked, found, exhausted from rule_backfills b where id = $1`,
    },
    [id],
  );
  if (row === undefined) throw new Error('It is gone.');
  return row;
}

test('a backfill checks 5,000 executions at a time, even if few belong to its prompt', async () => {
  await rows.executions('other', 7_000);
  await rows.executions('past', 3);
  const work: RuleWork = { kind: 'backfill', id: await rows.backfill() };
  const spec = await load(work);
  expect(await find(work, spec)).toBe(true);
  expect(await progress(work.id)).toEqual({ looked: 5_000, found: 0, exhausted: false });
  expect(await find(work, spec)).toBe(false);
  expect(await progress(work.id)).toEqual({ looked: 7_003, found: 3, exhausted: true });
  expect(await rows.countItems(work.id)).toBe(3);
});

test.each(['paused', 'canceled'])('a backfill that was %s finds nothing more', async (status) => {
  await rows.executions('past', 3);
  const work: RuleWork = { kind: 'backfill', id: await rows.backfill() };
  const spec = await load(work);
  await db.system.query({ text: 'update rule_backfills set status = $2 where id = $1' }, [work.id, status]);
  expect(await find(work, spec)).toBe(false);
  expect(await progress(work.id)).toEqual({ looked: 0, found: 0, exhausted: false });
  expect(await rows.countItems(work.id)).toBe(0);
});
