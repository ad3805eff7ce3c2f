import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Migration, Migrator } from '@mikro-orm/migrations';
import { defineConfig, EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { applyMigrations } from '../../src/db/migrate.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/wait-for.ts';

class AddColumn extends Migration {
  override up(): void {
    this.addSql(`set local lock_timeout = '300ms';`);
    this.addSql('alter table "busy" add "more" text null;');
  }
}

class AddIndex extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.addSql('drop index concurrently if exists "busy_id_index";');
    this.addSql('create index concurrently "busy_id_index" on "busy" ("id");');
  }
}

class Wrong extends Migration {
  override up(): void {
    this.addSql('alter table "nowhere" add "more" text null;');
  }
}

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const opened: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
  const client = await connect();
  await client.query('create table busy (id int)');
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await database.drop();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(database.url);
  await client.connect();
  opened.push({ close: () => client.end() });
  return client;
}

async function migrator(...migrations: (new (...args: ConstructorParameters<typeof Migration>) => Migration)[]) {
  const orm = await MikroORM.init(
    defineConfig({
      clientUrl: database.url,
      entities: [
        new EntitySchema({ name: 'Busy', tableName: 'busy', properties: { id: { type: 'number', primary: true } } }),
      ],
      extensions: [Migrator],
      migrations: {
        migrationsList: migrations.map((each) => ({ name: each.name, class: each })),
        tableName: 'other_migrations',
        snapshot: false,
        allOrNothing: false,
        silent: true,
      },
      pool: { min: 0, max: 2 },
    }),
  );
  opened.push({ close: () => orm.close(true) });
  return orm;
}

test('a migration without its lock lets others pass, and is applied when it gets it', async () => {
  const holder = await connect();
  await holder.query('begin');
  await holder.query('select * from busy');
  const applying = applyMigrations(await migrator(AddColumn));
  const reader = await connect();
  const waiting = `select count(*)::int as count from pg_locks where relation = 'busy'::regclass and not granted`;
  await until('the migration waits for its lock', async () => (await reader.query(waiting)).rows[0].count > 0);
  // Queued behind the migration, which gives way.
  await reader.query('select * from busy');
  await holder.query('commit');
  expect(await applying).toEqual(['AddColumn']);
  expect((await reader.query('select more from busy')).rows).toEqual([]);
});

test('if it never gets it, it fails and changes nothing', async () => {
  const holder = await connect();
  await holder.query('begin');
  await holder.query('select * from busy');
  const orm = await migrator(AddColumn);
  await expect(applyMigrations(orm, 1)).rejects.toMatchObject({ code: '55P03' });
  await holder.query('rollback');
  await expect(holder.query('select more from busy')).rejects.toThrow('does not exist');
});

test('an index is made concurrently while another migrator waits, and each migration is applied once', async () => {
  const migrators = await Promise.all([1, 2, 3].map(() => migrator(AddColumn, AddIndex)));
  const applied = await Promise.all(migrators.map((orm) => applyMigrations(orm)));
  expect(applied.flat().toSorted()).toEqual(['AddColumn', 'AddIndex']);
  const client = await connect();
  const { rows } = await client.query(`select indisvalid from pg_index where indexrelid = 'busy_id_index'::regclass`);
  expect(rows).toEqual([{ indisvalid: true }]);
});

test('migrations applied before a failing one stay', async () => {
  await expect(applyMigrations(await migrator(AddColumn, Wrong))).rejects.toThrow('nowhere');
  const client = await connect();
  expect((await client.query('select name from other_migrations')).rows).toEqual([{ name: 'AddColumn' }]);
  await client.query('select more from busy');
});
