import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { isPortFree } from '../src/embedded/ports.ts';
import type { EmbeddedPostgres } from '../src/embedded/postgres/postgres.ts';
import { endWithParent, run } from '../src/embedded/programs/programs.ts';
import { spawnServer } from '../src/embedded/server-process.ts';

// Temporal's server as in production, on PostgreSQL: built by Go from pinned modules into the benchmark's own folder.

const SERVER_VERSION = '1.29.1';
const MODULE = fileURLToPath(new URL('temporal-server/', import.meta.url));
const CACHE = fileURLToPath(new URL('../.cache/bench/', import.meta.url));
const PROGRAMS = { server: 'go.temporal.io/server/cmd/server', sqlTool: 'go.temporal.io/server/cmd/tools/sql' };
const SHARDS = 32;
const READY_TIMEOUT_MS = 60_000;
const NAMESPACE = 'default';

export interface TemporalServer {
  /** `host:port` of the frontend. */
  address: string;
  pid: number;
  stop(): Promise<void>;
}

/** @throws Error naming what is missing */
async function ensurePrograms(report: (line: string) => void): Promise<Record<keyof typeof PROGRAMS, string>> {
  const folder = path.join(CACHE, `temporal-server-${SERVER_VERSION}`);
  const files = { server: path.join(folder, 'server'), sqlTool: path.join(folder, 'sql-tool') };
  await mkdir(folder, { recursive: true });
  for (const name of ['server', 'sqlTool'] as const) {
    if (existsSync(files[name])) continue;
    report(`building ${PROGRAMS[name]}, which takes some minutes the first time…`);
    const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '' };
    const args = ['build', '-mod=readonly', '-trimpath', '-ldflags', '-s -w', '-o', files[name], PROGRAMS[name]];
    const { code, output } = await run('go', args, { env, cwd: MODULE });
    if (code !== 0) throw new Error(`Temporal's server could not be built: ${output.slice(-600)}`);
  }
  return files;
}

let nextPort = randomInt(20_000, 32_768);

/** A free port below 32768: the server stores its own as a `smallint`. */
async function lowPort(): Promise<number> {
  for (;;) {
    nextPort += 1;
    if (nextPort > 32_767) nextPort = 20_000;
    if (await isPortFree(nextPort)) return nextPort;
  }
}

/** Creates Temporal's two databases and their tables. */
async function prepareDatabases(sqlTool: string, url: URL): Promise<void> {
  const login = ['-u', url.username, '--pw', decodeURIComponent(url.password)];
  const common = ['--plugin', 'postgres12', '--ep', url.hostname, '-p', url.port, ...login];
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ] as const)
    for (const step of [
      ['create'],
      ['setup-schema', '-v', '0.0'],
      ['update-schema', '--schema-name', `postgresql/v12/${schema}`],
    ]) {
      const { code, output } = await run(sqlTool, [...common, '--db', database, ...step]);
      if (code !== 0) throw new Error(`temporal-sql-tool ${step.join(' ')} failed: ${output.slice(-600)}`);
    }
}

async function configOf(url: URL, frontendPort: number, dynamicConfig: string): Promise<object> {
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: url.username,
      password: decodeURIComponent(url.password),
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const service = async (grpcPort?: number) => ({
    rpc: { grpcPort: grpcPort ?? (await lowPort()), membershipPort: await lowPort(), bindOnLocalHost: true },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: SHARDS,
      datastores: { default: store('temporal', 40), visibility: store('temporal_visibility', 10) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: {
      frontend: await service(frontendPort),
      matching: await service(),
      history: await service(),
      worker: await service(),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${frontendPort}`,
        },
      },
    },
    publicClient: { hostPort: `127.0.0.1:${frontendPort}` },
    dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '60s' },
  };
}

/** As docs/operations.md recommends: fairness between workspaces. */
const DYNAMIC_CONFIG = {
  'matching.useNewMatcher': [{ value: true }],
  'matching.enableFairness': [{ value: true }],
};

/**
 * Starts Temporal's server (all four of its services in one process) on a PostgreSQL, with the namespace `default`.
 * @throws Error if it cannot be built or does not start
 */
export async function startTemporalServer(
  folder: string,
  postgres: EmbeddedPostgres,
  report: (line: string) => void,
): Promise<TemporalServer> {
  const programs = await ensurePrograms(report);
  const url = new URL(postgres.url('postgres'));
  await prepareDatabases(programs.sqlTool, url);
  const [config, dynamicConfig] = [path.join(folder, 'temporal-config'), path.join(folder, 'dynamic-config.yaml')];
  await mkdir(config);
  const port = await lowPort();
  // JSON is valid YAML.
  await writeFile(dynamicConfig, JSON.stringify(DYNAMIC_CONFIG));
  await writeFile(path.join(config, 'bench.yaml'), JSON.stringify(await configOf(url, port, dynamicConfig)));
  const command = [programs.server, '--root', folder, '--config', 'temporal-config', '--env', 'bench', 'start'];
  const server = await spawnServer(await endWithParent(command, 'KILL'), { env: process.env });
  const stop = () =>
    server.end([
      { signal: 'SIGTERM', ms: 10_000 },
      { signal: 'SIGKILL', ms: 5_000 },
    ]);
  const address = `127.0.0.1:${port}`;
  try {
    await becomeReady(address, () => server.running());
  } catch (error) {
    await stop();
    throw new Error(`Temporal's server did not start: ${server.log().slice(-3000)}`, { cause: error });
  }
  return { address, pid: server.pid, stop };
}

/** Registers the namespace and waits until it is usable, which takes the server's cache some seconds. */
async function becomeReady(address: string, isRunning: () => boolean): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  let isRegistered = false;
  for (;;) {
    try {
      const connection = await Connection.connect({ address, connectTimeout: 1_000 });
      try {
        const { workflowService: service } = connection;
        if (!isRegistered) {
          await service.registerNamespace({
            namespace: NAMESPACE,
            workflowExecutionRetentionPeriod: msToTs('3 days'),
          });
          isRegistered = true;
        }
        await service.listWorkflowExecutions({ namespace: NAMESPACE, pageSize: 1 });
        await service.describeTaskQueue({ namespace: NAMESPACE, taskQueue: { name: 'bench' }, taskQueueType: 1 });
        return;
      } finally {
        await connection.close();
      }
    } catch (error) {
      if (!isRunning() || Date.now() > deadline) throw error;
      await delay(500);
    }
  }
}
