import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM } from '@mikro-orm/postgresql';
import { entities } from './entities/index.ts';

const migrations = fileURLToPath(new URL('./migrations', import.meta.url));

/**
 * The options of every connection. After this long without data, the other end is probed for another 10 s; Linux would wait for
 * two hours. A statement uses one core: parallel workers take milliseconds to start, longer than nearly all statements take, and
 * would give readers much more than their share.
 */
export const CONNECTION_OPTIONS = {
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  options: '-c max_parallel_workers_per_gather=0',
} as const;

/**
 * A new connection takes tens of milliseconds of CPU: a PostgreSQL process, the password, and preparing each statement again.
 * With the driver's ten seconds, occasional requests would pay for that each time.
 */
const IDLE_MS = 10 * 60_000;

export interface OrmOptions {
  /** Default: 10. */
  poolSize?: number;
  idleTransactionMs?: number;
  statementTimeoutMs?: number;
}

/**
 * Opens MikroORM on a database. Connects lazily: an unreachable database shows at the first query.
 * @param options `idleTransactionMs`: the server ends a transaction that was idle for this long, for example from a machine that has vanished,
 * so that its locks don't outlive it; `statementTimeoutMs`: the server cancels a statement that takes longer. Both default to no limit.
 */
export function openOrm(
  databaseUrl: string,
  { poolSize = 10, idleTransactionMs, statementTimeoutMs }: OrmOptions = {},
): Promise<MikroORM> {
  return MikroORM.init(
    defineConfig({
      clientUrl: databaseUrl,
      entities,
      // Only the migrations create the database; everything else connects at its first query.
      ensureDatabase: false,
      extensions: [Migrator],
      migrations: {
        path: migrations,
        pathTs: migrations,
        glob: '!(*.d).ts',
        emit: 'ts',
        snapshot: true,
        snapshotName: '.snapshot-pms',
        // The snapshot belongs to the source; applying migrations must not rewrite it.
        snapshotOnMigrate: false,
        // Each has its own transaction, or none (`isTransactional`), so that no lock outlives its migration.
        allOrNothing: false,
        silent: true,
      },
      pool: { min: 0, max: poolSize, idleTimeoutMillis: IDLE_MS },
      driverOptions: {
        ...CONNECTION_OPTIONS,
        ...(idleTransactionMs === undefined ? {} : { idle_in_transaction_session_timeout: idleTransactionMs }),
        ...(statementTimeoutMs === undefined ? {} : { statement_timeout: statementTimeoutMs }),
      },
      debug: false,
    }),
  );
}
