import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { deleteRuleItems } from '../../src/jobs/delete-rule-items.ts';
import { createTestDatabase } from '../support/database.ts';
import { type RuleRows, ruleRows } from '../support/rule-rows.ts';

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

test('items due for no rule and no backfill are deleted, in steps that end on request', async () => {
  const gone = [
    await rows.rule({ enabled: false }),
    await rows.backfill({ status: 'completed' }),
    await rows.backfill({ status: 'canceled' }),
    'aaaaaaaa-0000-7000-8000-000000000000',
  ];
  const kept = [await rows.rule(), await rows.backfill(), await rows.backfill({ status: 'paused' })];
  for (const id of [...gone, ...kept]) await rows.items(id, 1_200);
  const counts = (ids: string[]) => Promise.all(ids.map((id) => rows.countItems(id)));

  await deleteRuleItems(db.system, AbortSignal.abort());
  expect(await counts(gone)).toEqual(gone.map(() => 1_200));
  await Promise.all([1, 2].map(() => deleteRuleItems(db.system, new AbortController().signal)));
  expect(await counts(gone)).toEqual(gone.map(() => 0));
  expect(await counts(kept)).toEqual(kept.map(() => 1_200));
});
