import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { MikroORM } from '@mikro-orm/postgresql';
import { loadSettings, SettingsError } from '../config.ts';
import { openOrm } from './orm.ts';

/** Opens the database, which is created if there is none. */
async function openExisting(databaseUrl: string): Promise<MikroORM> {
  for (let attempt = 1; ; attempt += 1) {
    const orm = await openOrm(databaseUrl, { poolSize: 2 });
    try {
      await orm.schema.ensureDatabase();
      return orm;
    } catch (error) {
      // Another migrator may have created it at the same moment. Once more with a new ORM: this one stays connected to
      // the database `postgres`, from which it created ours.
      await orm.close(true);
      if (attempt === 2) throw error;
    }
  }
}

/**
 * Creates the database if there is none and applies the migrations that are missing. Two at once wait for each other.
 * @returns the names of the migrations applied
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const orm = await openExisting(databaseUrl);
  try {
    return await orm.em.fork().transactional(async (em) => {
      // One migrator at a time: the transaction holds the lock. (raw SQL: MikroORM's migrations have its own connection.)
      await em.execute('select pg_advisory_xact_lock(7306530)');
      return (await orm.migrator.up()).map(({ name }) => name);
    });
  } finally {
    await orm.close(true);
  }
}

async function main(): Promise<void> {
  const { databaseUrl } = loadSettings();
  if (databaseUrl === undefined)
    throw new SettingsError(['DATABASE_URL: set it to the PostgreSQL database to migrate']);
  const applied = await migrate(databaseUrl);
  console.log(applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'The database is up to date.');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main().catch((error: Error) => {
    console.error(error instanceof SettingsError ? error.message : `Could not migrate: ${error.message}`);
    process.exitCode = 1;
  });
}
