import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate } from '../src/db/migrate.ts';
import { startPostgres } from '../src/embedded/postgres/postgres.ts';
import { startTemporal } from '../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../src/embedded/temporal/temporal-binary.ts';

/** The servers shared by the service and its contenders: those of `npm start`, configured the same way. */
export interface Servers {
  /** For files of this run; removed at its end. */
  folder: string;
  /** A migrated database. */
  databaseUrl: string;
  temporalAddress: string;
  /** Process ids. */
  pids: { postgres: number; temporal: number };
  stop(): Promise<void>;
}

/** Starts PostgreSQL (with additional settings) and Temporal on disk, in a new folder. */
export async function startServers(
  report: (line: string) => void,
  postgresSettings: Record<string, string> = {},
): Promise<Servers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-bench-'));
  const binary = await ensureTemporal({ report });
  const postgres = await startPostgres({
    dataDir: path.join(folder, 'postgres'),
    log: report,
    settings: postgresSettings,
  });
  const temporal = await startTemporal({
    binary,
    dbFile: path.join(folder, 'temporal', 'temporal.db'),
    namespace: 'default',
    log: report,
  });
  const databaseUrl = postgres.url('pms');
  await migrate(databaseUrl);
  return {
    folder,
    databaseUrl,
    temporalAddress: temporal.address,
    pids: { postgres: postgres.pid, temporal: temporal.pid },
    async stop() {
      await temporal.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
