import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase, type WorkspaceDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { correctExample } from '../../../src/services/datasets/correct-example.ts';
import { QUOTAS } from '../../../src/services/workspaces/quota-list.ts';
import { createQuotas, type QuotaLimits } from '../../../src/services/workspaces/quotas.ts';
import { createTestDatabase } from '../../support/database.ts';

const MIB = 1024 ** 2;
const unlimited = Object.fromEntries(Object.keys(QUOTAS).map((name) => [name, 0])) as QuotaLimits;
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let own: WorkspaceDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  own = db.workspace(newId());
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const correct = (key: string, datasetBytes = 0) => {
  const quotas = createQuotas({ ...unlimited, datasetBytes });
  const example = { key, variables: { text: 'x'.repeat(1_000) }, expected: 'yes', metadata: {} };
  return own.transaction((query) => correctExample(query, quotas, 'corrected', example));
};

test('the copy for a correction is limited, and checked by the quota first', async () => {
  expect(await correct('one')).toBe(1);
  expect(await correct('two', MIB)).toBe(2);
  await db.system.transaction(async (query) => {
    // Copying would wait here: it is rejected before.
    await query({ text: 'lock table dataset_examples in exclusive mode' });
    await expect(correct('three', 4_000)).rejects.toThrow(/at most 4000 bytes in datasets/);
    await own.query((all) => all.updateTable('dataset_versions').set({ bytes: 64 * MIB + 1 }));
    await expect(correct('three')).rejects.toThrow(
      'correction.dataset: has more than 64 MiB of examples, which each correction would copy: use another dataset',
    );
  });
});
