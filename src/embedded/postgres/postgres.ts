import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { adviceFor, EmbeddedStartError } from '../errors.ts';
import { choosePort, isPortFree } from '../ports.ts';
import { type ServerExit, type ServerProcess, spawnServer } from '../server-process.ts';
import { ensureCluster, POSTGRES_USER, stopOrphan, writeNotes } from './postgres-cluster.ts';
import { findPostgres, postgresCommand, postgresEnv } from './postgres-program.ts';

/** Crash recovery is included: it replays at most `max_wal_size` of changes. */
const READY_TIMEOUT_MS = 180_000;
/** Backends of a killed postmaster notice its end and exit; until then the cluster can't be opened. */
const OLD_BACKENDS_WAIT_MS = 20_000;
const PORT_ATTEMPTS = 3;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  max_connections: '200',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  log_checkpoints: 'off',
  // Short queries over small rows: compiling them costs more than it saves.
  jit: 'off',
  // The text of a failed statement could contain a prompt's input.
  log_min_error_statement: 'panic',
};

const THROW_AWAY_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  shared_buffers: '32MB',
};

export interface PostgresOptions {
  /** Folder of the cluster; created if missing. One process at a time: see `lockDataDir`. */
  dataDir: string;
  /** Preferred loopback port. Default: the one of the last start, at first any free one. */
  port?: number | undefined;
  /** For tests: no durability, no password, and the folder is removed by `stop`. Default: false. */
  ephemeral?: boolean | undefined;
  /** Receives messages for the operator, and the server's warnings and fatal errors. */
  log: (line: string) => void;
  /** PostgreSQL settings that override the defaults. */
  settings?: Record<string, string> | undefined;
}

/** A running PostgreSQL on this machine. */
export interface EmbeddedPostgres {
  /** The connection URL of a database in it, password included. `postgres` always exists. */
  url(database: string): string;
  port: number;
  pid: number;
  running(): boolean;
  /** Settles when the server has ended, through `stop` or unexpectedly. */
  exited: Promise<ServerExit>;
  /** Stops it in an orderly way, forcibly after 20 s. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on a cluster in `dataDir` and waits until it accepts connections. Recovers whatever a killed run left
 * behind. On Linux the server ends with this process, even if this is killed.
 *
 * @throws {EmbeddedStartError} `postgres_unavailable` or `postgres_failed`.
 */
export async function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres> {
  const { log, ephemeral = false } = options;
  const binaries = await findPostgres();
  const { dataDir, notes } = await ensureCluster(binaries, options.dataDir, { ephemeral, log });
  await stopOrphan(dataDir, log);

  const settings = { ...SETTINGS, ...(ephemeral ? THROW_AWAY_SETTINGS : {}), ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const oldBackendsUntil = Date.now() + OLD_BACKENDS_WAIT_MS;
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port ?? notes.port ?? undefined, 'PostgreSQL', log);
    const command = await postgresCommand(binaries.postgres, ['-D', dataDir, '-p', String(port), ...flags]);
    const server = await spawnServer(command, {
      env: postgresEnv(),
      onLine: (line) => {
        if (/\b(WARNING|PANIC):/.test(line)) log(`PostgreSQL: ${line}`);
      },
    });
    if (await becomesReady(server, dataDir)) {
      if (!ephemeral && port !== notes.port) await writeNotes(dataDir, { ...notes, port });
      return handleOf(server, { port, password: notes.password, removeOnStop: ephemeral ? dataDir : undefined });
    }
    const output = server.log();
    if (/pre-existing shared memory block/.test(output) && Date.now() < oldBackendsUntil) {
      await delay(500);
    } else if (attempt >= PORT_ATTEMPTS || (await isPortFree(port))) {
      const advice = adviceFor(output) ?? 'Fix what it reports, or set DATABASE_URL to your own PostgreSQL server.';
      throw new EmbeddedStartError(
        'postgres_failed',
        `PostgreSQL did not start on ${dataDir}. ${advice} Its output:\n${output.slice(-1500)}`,
      );
    }
  }
}

/** The server's own pid file shows when it accepts connections; reading it needs no connection and no password. */
async function becomesReady(server: ServerProcess, dataDir: string): Promise<boolean> {
  const until = Date.now() + READY_TIMEOUT_MS;
  while (server.running() && Date.now() < until) {
    const lines = await readFile(path.join(dataDir, 'postmaster.pid'), 'utf8').then(
      (text) => text.split('\n'),
      () => [],
    );
    if (Number(lines[0]) === server.pid && lines[7]?.trim() === 'ready') return true;
    await delay(10);
  }
  await server.end([
    { signal: 'SIGQUIT', ms: 5_000 },
    { signal: 'SIGKILL', ms: 5_000 },
  ]);
  await server.exited;
  return false;
}

function handleOf(
  server: ServerProcess,
  about: { port: number; password: string | null; removeOnStop: string | undefined },
): EmbeddedPostgres {
  const login = about.password === null ? POSTGRES_USER : `${POSTGRES_USER}:${about.password}`;
  return {
    port: about.port,
    pid: server.pid,
    exited: server.exited,
    running: () => server.running(),
    url: (database) => `postgresql://${login}@127.0.0.1:${about.port}/${encodeURIComponent(database)}`,
    async stop() {
      // A fast shutdown, then an immediate one, which leaves recovery to the next start.
      await server.end([
        { signal: 'SIGINT', ms: 15_000 },
        { signal: 'SIGQUIT', ms: 5_000 },
        { signal: 'SIGKILL', ms: 5_000 },
      ]);
      if (about.removeOnStop) await rm(about.removeOnStop, { recursive: true, force: true });
    },
  };
}
