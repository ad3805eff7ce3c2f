import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { registerSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { COMPILE_CACHE, copyCluster, fillCompileCache } from './prepared.ts';
import { ensureTimeSkippingServer } from './time-skipping-server.ts';

declare global {
  var testServers: { postgres: EmbeddedPostgres; temporal: EmbeddedTemporal } | undefined;
}

/** One real PostgreSQL with a migrated template database and one real Temporal for all test files. */
export default async function setup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-test-'));
  const report = (line: string) => console.error(line);
  const [postgres, temporal, timeSkippingServer] = await Promise.all([
    startDatabase(path.join(folder, 'postgres')),
    startFlows(report),
    ensureTimeSkippingServer({ report }),
    workflowBundle(),
    fillCompileCache(),
  ]);
  globalThis.testServers = { postgres, temporal };
  process.env['TEST_POSTGRES_URL'] = postgres.url('');
  process.env['TEST_TEMPORAL_ADDRESS'] = temporal.address;
  process.env['TEST_TIME_SKIPPING_SERVER'] = timeSkippingServer;
}

async function startDatabase(dataDir: string): Promise<EmbeddedPostgres> {
  await copyCluster(dataDir);
  return startPostgres({
    dataDir,
    ephemeral: true,
    // Test files side by side have a good many processes, each with a pool of connections.
    settings: { max_connections: '600' },
    log: () => {},
  });
}

async function startFlows(report: (line: string) => void): Promise<EmbeddedTemporal> {
  const temporal = await startTemporal({
    binary: await ensureTemporal({ report }),
    namespace: 'default',
    log: () => {},
  });
  // Workers do it when they start; some tests have none.
  const connection = await Connection.connect({ address: temporal.address });
  await registerSearchAttributes(new Client({ connection }));
  await connection.close();
  return temporal;
}
