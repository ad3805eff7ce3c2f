import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { MikroORM } from '@mikro-orm/postgresql';
import { loadSettings, SettingsError } from '../config.ts';
import { openOrm } from './orm.ts';

const LOCK_NOT_AVAILABLE = '55P03';
/** How long a migration waits after it failed to get a lock, so that others can proceed. */
const BETWEEN_ATTEMPTS_MS = 2_000;
/** The maximum number of attempts to get it. */
const ATTEMPTS = 60;
const BETWEEN_TURNS_MS = 250;

/** Opens the database, and creates it if it does not exist. */
async function openExisting(databaseUrl: string): Promise<MikroORM> {
  for (let attempt = 1; ; attempt += 1) {
    const orm = await openOrm(databaseUrl, { poolSize: 2 });
    try {
      await orm.schema.ensureDatabase();
      return orm;
    } catch (error) {
      // Another migrator may have created it at the same moment. Try again with a new ORM: this one stays connected to the
      // database `postgres`, from which it created ours.
      await orm.close(true);
      if (attempt === 2) throw error;
    }
  }
}

const isLockTimeout = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;

/**
 * Applies the missing migrations, each in a transaction of its own unless it says otherwise. Concurrent calls wait for each other. A
 * migration that does not get a table lock within its `lock_timeout` is retried, so that blocked work can proceed in between.
 * @param attempts the maximum number of attempts
 * @returns the names of the applied migrations
 * @throws the error of a failed migration; those before it stay applied
 */
export function applyMigrations(orm: MikroORM, attempts = ATTEMPTS): Promise<string[]> {
  return orm.em.fork().transactional(async (em) => {
    // One migrator at a time: the transaction holds the lock. Waiting migrators poll for it, because a waiting statement would
    // keep `create index concurrently` from finishing. (raw SQL: MikroORM's migrations have their own connection.)
    for (;;) {
      const [row] = await em.execute<{ got: boolean }[]>('select pg_try_advisory_xact_lock(7306530) as got');
      if (row?.got === true) break;
      await delay(BETWEEN_TURNS_MS);
    }
    const pending = await orm.migrator.getPending();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await orm.migrator.up();
        return pending.map(({ name }) => name);
      } catch (error) {
        if (!isLockTimeout(error) || attempt >= attempts) throw error;
        await delay(BETWEEN_ATTEMPTS_MS);
      }
    }
  });
}

/**
 * Creates the database if it does not exist and applies the missing migrations: {@link applyMigrations}.
 * @returns the names of the applied migrations
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const orm = await openExisting(databaseUrl);
  try {
    return await applyMigrations(orm);
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
