import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { startRules } from '../../src/jobs/start-rules.ts';
import type { WorkflowStarter } from '../../src/temporal/workflows.ts';
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

test('work for a disabled rule does not delay other rules', async () => {
  const disabled = await rows.rule({ enabled: false });
  await rows.items(disabled, 5_000);
  // Nothing is due: no workflow is started.
  await startRules(db.system, {} as WorkflowStarter, pino({ enabled: false }));
  expect(await rows.countItems(disabled)).toBe(5_000);
});
