import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase, type WorkspaceDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { findExamples } from '../../../src/services/datasets/find-examples.ts';
import { storeExamples } from '../../../src/services/datasets/inline-examples.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Database;
let db: WorkspaceDatabase;
let drop: () => Promise<void>;
beforeAll(async () => {
  const created = await createTestDatabase();
  drop = () => created.drop();
  database = await openDatabase(created.url, { poolSize: 2 });
  db = database.workspace(newId());
});
afterAll(async () => {
  await database?.close();
  await drop?.();
});

const ROOM = { check: async () => {} };

const READ = {
  text: `select seq, example_key, variables, expected::text as expected, metadata from dataset_examples
         where workspace_id = $1 and dataset_version_id = $2 order by seq`,
};

test('stores inline examples in order, each with its own key', async () => {
  const stored = await db.transaction((query) =>
    storeExamples(query, ROOM, [
      { id: 'first', variables: { text: 'a "quoted" \\ {brace}', nested: { b: [1, null], a: true } }, expected: null },
      { variables: { b: 1, a: 2 }, expected: 'x' },
      { variables: { a: 2, b: 1 }, expected: 'x', metadata: { source: 'copy' } },
      { variables: {} },
    ]),
  );
  expect(stored.total).toBe(4);
  const rows = await db.query<{ seq: number; example_key: string; expected: string | null }>(READ, [stored.examplesId]);
  expect(rows).toEqual([
    {
      seq: 0,
      example_key: 'first',
      variables: { text: 'a "quoted" \\ {brace}', nested: { b: [1, null], a: true } },
      expected: 'null',
      metadata: null,
    },
    {
      seq: 1,
      example_key: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      variables: { a: 2, b: 1 },
      expected: '"x"',
      metadata: null,
    },
    {
      seq: 2,
      example_key: `${rows[1]?.example_key}#2`,
      variables: { a: 2, b: 1 },
      expected: '"x"',
      metadata: { source: 'copy' },
    },
    {
      seq: 3,
      example_key: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      variables: {},
      expected: null,
      metadata: null,
    },
  ]);
});

test('the hash shows whether two sets are equal, whatever the order of names and the metadata', async () => {
  const hashOf = async (examples: Parameters<typeof storeExamples>[2]) =>
    (await db.transaction((query) => storeExamples(query, ROOM, examples))).hash.toString('hex');
  const hash = await hashOf([{ id: 'a', variables: { x: 1, y: 2 } }]);
  expect(await hashOf([{ id: 'a', variables: { y: 2, x: 1 }, metadata: { note: 'n' } }])).toBe(hash);
  expect(await hashOf([{ id: 'b', variables: { x: 1, y: 2 } }])).not.toBe(hash);
  expect(await hashOf([{ id: 'a', variables: { x: 1, y: 2 }, expected: null }])).not.toBe(hash);
  expect(await hashOf([{ id: 'a', variables: { x: 1, y: '2' } }])).not.toBe(hash);
});

test('refuses an id used twice and stores nothing', async () => {
  const examples = [
    { id: 'a', variables: {} },
    { id: 'b', variables: {} },
    { id: 'a', variables: { x: 1 } },
  ];
  const count = { text: 'select count(*)::int as n from dataset_versions where workspace_id = $1' };
  const before = await db.query(count);
  await expect(db.transaction((query) => storeExamples(query, ROOM, examples))).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ path: 'examples.2.id', message: 'is the id of examples.0 too: "a"' }],
  });
  expect(await db.query(count)).toEqual(before);
});

test('names the missing dataset', async () => {
  await expect(findExamples(db.query, 'none/such')).rejects.toMatchObject({
    code: 'not_found',
    message: 'The dataset "none/such" does not exist in this workspace.',
  });
  await expect(findExamples(db.query, 'none/such', 2)).rejects.toMatchObject({
    message: 'The dataset "none/such" does not exist in this workspace.',
  });
});
