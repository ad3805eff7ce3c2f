import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { ApiKey } from '../../src/db/entities/api-key.ts';
import { entities } from '../../src/db/entities/index.ts';
import { WORKSPACE_FILTER } from '../../src/db/entities/workspace-owned.ts';
import { classifyDatabaseError, DatabaseUnavailableError, isDatabaseUnavailable } from '../../src/db/errors.ts';
import { openOrm } from '../../src/db/orm.ts';
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
  ])('refuses a statement that is not bound to it: %s', async (text) => {
    const refused = /not bound to a workspace/;
    await expect(async () => db.workspace(mine).query({ text })).rejects.toThrow(refused);
    await expect(db.workspace(mine).transaction((query) => query({ text }))).rejects.toThrow(refused);
  });

  test('sees its own rows through statements and entities, and no others', async () => {
    const rows = await db.workspace(mine).query({ text: 'select name from api_keys where workspace_id = $1' });
    expect(rows).toEqual([{ name: mine }]);
    expect((await db.workspace(theirs).em().find(ApiKey, {})).map(({ name }) => name)).toEqual([theirs]);
    expect(await db.workspace(mine).em().findOne(ApiKey, { name: theirs })).toBeNull();
    expect(await db.workspace(mine).em().count(ApiKey, {})).toBe(1);
    expect(await db.workspace(mine).em().nativeDelete(ApiKey, { name: theirs })).toBe(0);
    expect(await db.system.em().count(ApiKey, {})).toBe(2);
  });

  test('is asked for by every entity that has one', () => {
    for (const entity of entities) {
      const owned = 'workspaceId' in entity.meta.properties;
      expect([entity.meta.name, Object.keys(entity.meta.filters ?? {})]).toEqual([
        entity.meta.name,
        owned ? [WORKSPACE_FILTER] : [],
      ]);
    }
  });

  test('is needed by an EntityManager for every entity that is owned', async () => {
    const orm = await openOrm(database.url, { poolSize: 1 });
    try {
      for (const entity of entities) {
        if (!('workspaceId' in entity.meta.properties)) continue;
        await expect(orm.em.fork().find(entity.meta.class, {})).rejects.toThrow(/filter/);
      }
    } finally {
      await orm.close(true);
    }
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

  test('whose connection is cut is an outage, not the end of the process, and the next one works', async () => {
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

describe('an error', () => {
  test('of a statement is told from an outage', async () => {
    const error = await db.system.query({ text: 'select 1 / 0' }).catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(error)).toBe(false);
    expect(isDatabaseUnavailable(classifyDatabaseError(new Error('connection lost')))).toBe(true);
    const gone = await openDatabase('postgresql://127.0.0.1:1/none', { poolSize: 1 });
    await expect(gone.system.query({ text: 'select 1' })).rejects.toThrow(DatabaseUnavailableError);
    await expect(gone.system.transaction(async () => {})).rejects.toThrow(DatabaseUnavailableError);
    const byEntity = await gone.system
      .em()
      .find(ApiKey, {})
      .catch((thrown: unknown) => thrown);
    expect(isDatabaseUnavailable(byEntity)).toBe(true);
    await gone.close();
  });
});
