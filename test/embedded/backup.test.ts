import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { backUp } from '../../src/embedded/backup.ts';
import { lockDataDir } from '../../src/embedded/data-dir.ts';
import { startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { scratchFolder } from './support.ts';

let folder: string;
let remove: () => Promise<void>;
const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  ({ folder, remove } = await scratchFolder());
});
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});
afterAll(() => remove());

async function start(dataDir: string) {
  const postgres = await startPostgres({ dataDir: path.join(dataDir, 'postgres'), log: () => {} });
  stops.push(() => postgres.stop());
  const client = new pg.Client(postgres.url('postgres'));
  await client.connect();
  stops.push(() => client.end());
  return { postgres, client };
}

const SUMS = 'select (select count(*)::int from a) as a, (select count(*)::int from b) as b';

test('a backup of a busy service is its state at one moment, with all that was committed before', async () => {
  const dataDir = path.join(folder, 'live');
  const { client, postgres } = await start(dataDir);
  await client.query('create table a (id bigserial, text text); create table b (id bigserial, text text)');
  // More than is in memory, so that files are written while they are copied.
  await client.query(`insert into a (text) select repeat('x', 500) from generate_series(1, 20000)`);
  await client.query(`insert into b (text) select repeat('x', 500) from generate_series(1, 20000)`);
  await writeFile(path.join(dataDir, 'encryption-key'), 'secret');
  const writer = new pg.Client(postgres.url('postgres'));
  await writer.connect();
  let [isOver, written] = [false, 0];
  const writing = (async () => {
    while (!isOver) {
      await writer.query(`begin; insert into a (text) values (repeat('y', 2000)); insert into b (text) values (repeat('y', 2000));
        update a set text = repeat('z', 500) where id = 1 + ${written} % 20000; commit`);
      written += 1;
    }
  })();
  const before = (await client.query(SUMS)).rows[0].a;
  const target = path.join(folder, 'copy');
  expect(await backUp(dataDir, target)).toMatchObject({ folder: target, live: true });
  isOver = true;
  await writing;
  await writer.end();
  const after = (await client.query(SUMS)).rows[0].a;
  expect(after).toBeGreaterThan(before);

  const { rows } = await (await start(target)).client.query(SUMS);
  expect(rows[0].a).toBe(rows[0].b);
  expect(rows[0].a).toBeGreaterThanOrEqual(before);
  expect(rows[0].a).toBeLessThanOrEqual(after);
  expect((await readdir(target)).toSorted()).toEqual(['encryption-key', 'postgres']);
  expect((await stat(target)).mode & 0o077).toBe(0);
  // Nothing holds the log back now.
  expect((await client.query('select from pg_replication_slots')).rows).toEqual([]);
});

test("Temporal's file is copied with what is in its log", async () => {
  const dataDir = path.join(folder, 'temporal');
  const { client } = await start(dataDir);
  await client.query('select 1');
  const file = path.join(dataDir, 'temporal', 'temporal.db');
  await mkdir(path.dirname(file));
  const database = new DatabaseSync(file);
  stops.push(async () => database.close());
  database.exec('pragma journal_mode = wal; create table t (id); insert into t values (1)');
  const target = path.join(folder, 'temporal-copy');
  await backUp(dataDir, target);
  const copy = new DatabaseSync(path.join(target, 'temporal', 'temporal.db'));
  expect(copy.prepare('select id from t').all()).toEqual([{ id: 1 }]);
  copy.close();
});

test('a stopped service is copied unchanged, and not as it starts', async () => {
  const dataDir = path.join(folder, 'stopped');
  const { client, postgres } = await start(dataDir);
  await client.query('create table a (id int)');
  await client.end();
  await postgres.stop();
  const lock = await lockDataDir(dataDir);
  const target = path.join(folder, 'stopped-copy');
  await expect(backUp(dataDir, target)).rejects.toMatchObject({ code: 'data_dir_in_use' });
  await lock.release();
  expect(await backUp(dataDir, target)).toMatchObject({ live: false });
  await (await start(target)).client.query('select from a');
});

test('nothing is overwritten, and missing data is not backed up', async () => {
  const full = path.join(folder, 'full');
  await lockDataDir(full).then((lock) => lock.release());
  await expect(backUp(folder, full)).rejects.toThrow('is not empty');
  await expect(backUp(path.join(folder, 'none'), path.join(folder, 'new'))).rejects.toThrow('nothing to back up');
  expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([]);
});
