import path from 'node:path';
import { loadSettings, type Settings } from '../config.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { systemErrorCode } from '../embedded/errors.ts';
import { urlOfRunningPostgres } from '../embedded/postgres/running-postgres.ts';
import { actAs, OPERATOR } from '../services/audit/acting.ts';
import { AdminError } from './errors.ts';

/** The configured database, otherwise the database of the service that runs on this machine with the same `DATA_DIR`. */
async function findDatabase({ databaseUrl, dataDir }: Settings): Promise<string> {
  if (databaseUrl !== undefined) return databaseUrl;
  const url = await urlOfRunningPostgres(path.join(dataDir, 'postgres'), 'pms').catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EACCES') throw error;
    throw new AdminError(
      `DATA_DIR ${dataDir} can't be read by this user: run the command as the user who runs the service.`,
    );
  });
  if (url === undefined)
    throw new AdminError(
      `No service runs with DATA_DIR ${dataDir}: start one with npm start, or set DATABASE_URL to its database.`,
    );
  return url;
}

/**
 * Runs a command's work with the service's database, and closes it.
 * @throws SettingsError, AdminError if there is no database
 */
export async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase(await findDatabase(loadSettings()), { poolSize: 2 });
  try {
    return await actAs(OPERATOR, () => work(db));
  } finally {
    await db.close();
  }
}
