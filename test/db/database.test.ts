import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Database, openDatabase, type Query } from '../../src/db/database.ts';
import { classifyDatabaseError, DatabaseUnavailableError, isDatabaseUnavailable } from '../../src/db/errors.ts';
import { newId } from '../../src/domain/ids.ts';
import { createApiKey, generateApiKey } from '../../src/services/access/api-keys.ts';
import { createTestDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const [mine, theirs] = [newId(), newId()];

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  for (const workspace of [mine, theirs])
    await db
      .workspace(workspace)
      .transaction((query) =>
        createApiKey(query, generateApiKey(), { name: workspace, scopes: ['read'], expiresAt: null }),
      );
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

describe('a workspace', () => {
  test.each([
    'select * from api_keys',
    'select * from api_keys where id = $1',
    'select * from api_keys where workspace_id = $2',
    'select * from api_keys where workspace_id is not null',
    'select * from api_keys where workspace_id = $10',
  ])('refuses an unbound statement: %s', async (text) => {
    const refused = /not bound to a workspace/;
    await expect(async () => db.workspace(mine).query({ text })).rejects.toThrow(refused);
    await expect(db.workspace(mine).transaction((query) => query({ text }))).rejects.toThrow(refused);
  });

  test('sees only its own rows', async () => {
    const rows = await db.workspace(mine).query({ text: 'select name from api_keys where workspace_id = $1' });
    expect(rows).toEqual([{ name: mine }]);
    const names = (query: Query) => query((own) => own.selectFrom('api_keys').select('name'));
    expect(await names(db.workspace(theirs).query)).toEqual([{ name: theirs }]);
    const byName = await db
      .workspace(mine)
      .query((own) => own.deleteFrom('api_keys').where('name', '=', theirs).returning('id'));
    expect(byName).toEqual([]);
    expect(await names(db.system.query)).toHaveLength(2);
  });
});

describe('a transaction', () => {
  const insert = { text: 'insert into workspaces (id, name, owner_email, created_at) values ($1, $2, $3, now())' };
  const named = (name: string) => db.system.query({ text: 'select 1 from workspaces where name = $1' }, [name]);

  test('is rolled back by an error', async () => {
    const work = db.system.transaction(async (query) => {
      await query(insert, [newId(), 'rolled back', 'a@b']);
      throw new Error('stop');
    });
    await expect(work).rejects.toThrow('stop');
    expect(await named('rolled back')).toEqual([]);
  });

  test('with a cut connection is an outage, not the end of the process, and the next one works', async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      const work = db.system.transaction(async (query) => {
        const [backend] = await query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
        await query(insert, [newId(), 'cut', 'a@b']);
        await db.system.query({ text: 'select pg_terminate_backend($1, 5000)' }, [backend?.pid]);
        await query({ text: 'select 1' });
      });
      await expect(work).rejects.toThrow(DatabaseUnavailableError);
      expect(await named('cut')).toEqual([]);
    }
  });
});

test.each(['transaction', 'unbound'] as const)(
  'one workspace leaves connections to others, however many requests it has (%s)',
  async (kind) => {
    const own = db.workspace(mine);
    const gate = Promise.withResolvers<void>();
    const transaction = kind === 'unbound' ? own.unbound.transaction : own.transaction;
    const held = Array.from({ length: 20 }, () => transaction(() => gate.promise));
    try {
      const read = db.workspace(theirs).query({ text: 'select $1::uuid as workspace_id' });
      expect(await Promise.race([read, delay(5_000, 'waited in vain')])).toEqual([{ workspace_id: theirs }]);
    } finally {
      gate.resolve();
      await Promise.all(held);
    }
  },
);

describe('an error', () => {
  test('of a statement is not an outage', async () => {
    const error = await db.system.query({ text: 'select 1 / 0' }).catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(false);
    expect(isDatabaseUnavailable(classifyDatabaseError(new Error('connection lost')))).toBe(true);
    const gone = await openDatabase('postgresql://127.0.0.1:1/none', { poolSize: 1 });
    await expect(gone.system.query({ text: 'select 1' })).rejects.toThrow(DatabaseUnavailableError);
    await expect(gone.system.transaction(async () => {})).rejects.toThrow(DatabaseUnavailableError);
    await gone.close();
  });
});
