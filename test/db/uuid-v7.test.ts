import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { validate, version } from 'uuid';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { UUID_V7 } from '../../src/db/uuid-v7.ts';
import { newId } from '../../src/domain/ids.ts';
import { createTestDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 2 });
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const make = async (count: number) =>
  (await db.system.query<{ id: string }>({ text: `select ${UUID_V7} as id from generate_series(1, $1)` }, [count])).map(
    ({ id }) => id,
  );
const millisecondsOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

test('ids made in SQL are UUIDs of version 7 and the right variant, all distinct', async () => {
  const ids = await make(2_000);
  expect(new Set(ids).size).toBe(2_000);
  expect(ids.filter((id) => !validate(id) || version(id) !== 7)).toEqual([]);
  expect(new Set(ids.map((id) => id[14]))).toEqual(new Set(['7']));
  expect(new Set(ids.map((id) => id[19]))).toEqual(new Set(['8', '9', 'a', 'b']));
});

test('they hold the time, so they sort with ids made here', async () => {
  const from = Date.now();
  const [id = ''] = await make(1);
  expect(millisecondsOf(id)).toBeGreaterThanOrEqual(from - 1);
  expect(millisecondsOf(id)).toBeLessThanOrEqual(Date.now() + 1);
  expect(millisecondsOf(newId())).toBeGreaterThanOrEqual(millisecondsOf(id) - 1);
});

test('all other bits are random', async () => {
  const ids = (await make(500)).map((id) => BigInt(`0x${id.replaceAll('-', '').slice(12)}`));
  for (let bit = 0n; bit < 80n; bit++) {
    // Version and variant, from the left: bits 0-3 and 16-17.
    if (bit >= 76n || bit === 63n || bit === 62n) continue;
    const ones = ids.filter((id) => (id >> bit) & 1n).length;
    expect([bit, ones > 100 && ones < 400]).toEqual([bit, true]);
  }
});
