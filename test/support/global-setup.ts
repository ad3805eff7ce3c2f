import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { Client, Connection } from '@temporalio/client';
import { migrate } from '../../src/db/migrate.ts';
import { type EmbeddedPostgres, startPostgres } from '../../src/embedded/postgres/postgres.ts';
import { type EmbeddedTemporal, startTemporal } from '../../src/embedded/temporal/temporal.ts';
import { ensureTemporal } from '../../src/embedded/temporal/temporal-binary.ts';
import { registerSearchAttributes } from '../../src/temporal/search-attributes.ts';
import { workflowBundle } from '../../src/workflows/bundle.ts';
import { TEMPLATE_DATABASE } from './database.ts';
import { PROJECT, startNode } from './processes.ts';
import { installStateTriggers } from './state-triggers.ts';
import { ensureTimeSkippingServer } from './time-skipping-server.ts';

declare global {
  var testServers: { postgres: EmbeddedPostgres; temporal: EmbeddedTemporal } | undefined;
}

/** One real PostgreSQL with a migrated template database and one real Temporal for all test files. */
export default async function setup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] = path.join(PROJECT, '.cache', 'compiled');
  const folder = await mkdtemp(path.join(tmpdir(), 'pms-test-'));
  const report = (line: string) => console.error(line);
  const [postgres, temporal] = await Promise.all([
    // Test files at work side by side have a good many processes, each with a pool of connections.
    startPostgres({
      dataDir: path.join(folder, 'postgres'),
      ephemeral: true,
      settings: { max_connections: '600' },
      log: () => {},
    }),
    ensureTemporal({ report }).then((binary) =>
      startTemporal({
        binary,
        namespace: 'default',
        log: () => {},
      }),
    ),
    workflowBundle(),
    fillCompileCache(),
  ]);
  globalThis.testServers = { postgres, temporal };
  // Workers do it when they start; some tests have none.
  const connection = await Connection.connect({ address: temporal.address });
  await registerSearchAttributes(new Client({ connection }));
  await connection.close();
  await migrate(postgres.url(TEMPLATE_DATABASE));
  await installStateTriggers(postgres.url(TEMPLATE_DATABASE));
  process.env['TEST_POSTGRES_URL'] = postgres.url('');
  process.env['TEST_TEMPORAL_ADDRESS'] = temporal.address;
  process.env['TEST_TIME_SKIPPING_SERVER'] = await ensureTimeSkippingServer({ report });
}

/**
 * Processes of the tests read what V8 makes of the sources instead of making it again. It is stored as a process ends in an
 * orderly way, which most of theirs do not.
 */
async function fillCompileCache(): Promise<void> {
  const { code, output } = await startNode('test/support/load-service.ts').ended;
  if (code !== 0) throw new Error(`The service could not be loaded: ${output}`);
}
