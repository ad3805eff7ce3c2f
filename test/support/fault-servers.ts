import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { findPostgres } from '../../src/embedded/postgres/postgres-program.ts';
import { startTemporal } from '../../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { TEMPLATE_DATABASE } from './database.ts';
import { copyCluster } from './prepared.ts';
import { freePorts } from './processes.ts';

// Before all tests: jest refuses imports between concurrent tests of a file.
await findPostgres();

/** A server that comes back on its old port with its old data. */
export interface Restartable {
  /** Waits until it accepts connections. */
  start(): Promise<void>;
  /** In an orderly way. */
  stop(): Promise<void>;
  /** `kill -9`. */
  kill(): Promise<void>;
}

/** PostgreSQL and Temporal of a test's own, as durable as in production. */
export interface OwnServers {
  databaseUrl: string;
  /** host:port */
  temporalAddress: string;
  postgres: Restartable;
  temporal: Restartable;
  /** Kills Temporal and starts an empty one at its address. */
  loseTemporal(): Promise<void>;
  /** Ends both and removes their data. */
  remove(): Promise<void>;
}

interface Server {
  pid: number;
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

function restartable(start: () => Promise<Server>): Restartable {
  let current: Server | undefined;
  return {
    async start() {
      current = await start();
    },
    async stop() {
      await current?.stop();
      current = undefined;
    },
    async kill() {
      if (current === undefined) return;
      process.kill(current.pid, 'SIGKILL');
      await current.exited;
      current = undefined;
    },
  };
}

/** Starts both, with a migrated database. */
export async function startOwnServers(): Promise<OwnServers> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-faults-'));
  const [postgresPort, temporalPort] = await freePorts(2);
  const binary = await ensureTemporal({ report: () => {} });
  const dataDir = path.join(folder, 'postgres');
  await copyCluster(dataDir);
  let databaseUrl = '';
  const postgres = restartable(async () => {
    const server = await startPostgres({ dataDir, port: postgresPort, log: () => {} });
    databaseUrl = server.url(TEMPLATE_DATABASE);
    return server;
  });
  const temporal = restartable(() =>
    startTemporal({
      binary,
      dbFile: path.join(folder, 'temporal', 'temporal.db'),
      port: temporalPort,
      namespace: 'default',
      log: () => {},
    }),
  );
  await Promise.all([postgres.start(), temporal.start()]);
  return {
    databaseUrl,
    temporalAddress: `127.0.0.1:${temporalPort}`,
    postgres,
    temporal,
    async loseTemporal() {
      await temporal.kill();
      await rm(path.join(folder, 'temporal'), { recursive: true });
      await temporal.start();
    },
    async remove() {
      await Promise.all([postgres.stop(), temporal.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
