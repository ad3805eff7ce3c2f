import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Logger } from 'pino';
import { startApi } from './api/server.ts';
import type { Settings } from './config.ts';
import { migrate } from './db/migrate.ts';
import { connectDependencies } from './dependencies.ts';
import { lockDataDir } from './embedded/data-dir.ts';
import { keepRunning } from './embedded/keep-running.ts';
import { startPostgres } from './embedded/postgres/postgres.ts';
import { keptSecret } from './embedded/secrets.ts';
import { startTemporal } from './embedded/temporal/temporal.ts';
import { ensureTemporal } from './embedded/temporal/temporal-binary.ts';
import { listen, type RunningServer } from './http/http-server.ts';
import { type Parts, runProcess } from './lifecycle.ts';
import { serveMetrics } from './metrics.ts';
import { allowPrivateAtStart } from './outbound/allow-private-at-start.ts';
import { generateApiKey } from './services/access/api-keys.ts';
import { ensureFirstKey } from './services/workspaces/bootstrap.ts';
import { createDataConverter } from './temporal/data-converter.ts';
import { welcomeText } from './welcome.ts';
import { startWorkers } from './worker.ts';
import { workflowBundle } from './workflows/bundle.ts';

/** The configured database, otherwise PostgreSQL on this machine. */
async function database({ databaseUrl, dataDir }: Settings, log: Logger, parts: Parts): Promise<string> {
  if (databaseUrl !== undefined) return databaseUrl;
  log.info('starting PostgreSQL');
  const start = () =>
    startPostgres({ dataDir: path.join(dataDir, 'postgres'), log: (line) => log.info({ from: 'postgres' }, line) });
  const postgres = await keepRunning('PostgreSQL', start, log);
  parts.add('PostgreSQL', () => postgres.stop());
  return postgres.first.url('pms');
}

/** The configured Temporal, otherwise a server on this machine. */
async function temporal(
  { temporal: { address, namespace, uiPort }, dataDir }: Settings,
  log: Logger,
  parts: Parts,
): Promise<{ address: string; sidePorts?: readonly [number, number]; uiUrl: string | undefined }> {
  if (address !== undefined) return { address, uiUrl: undefined };
  const report = (line: string) => log.info({ from: 'temporal' }, line);
  const binary = await ensureTemporal({ report });
  log.info('starting Temporal');
  let sidePorts: readonly [number, number] | undefined;
  const start = async () => {
    const dbFile = path.join(dataDir, 'temporal', 'temporal.db');
    const started = await startTemporal({ binary, dbFile, sidePorts, uiPort, namespace, log: report });
    sidePorts = started.sidePorts;
    return started;
  };
  const server = await keepRunning('Temporal', start, log);
  parts.add('Temporal', () => server.stop());
  return server.first;
}

/**
 * Detects occupied ports before the servers are started, which takes a while the first time.
 * @throws PortError
 */
async function checkPorts({ host, port, metricsPort, temporal: { address, uiPort } }: Settings): Promise<void> {
  const wanted = [
    { setting: 'PORT', host, port },
    { setting: 'METRICS_PORT', host, port: metricsPort },
    { setting: 'TEMPORAL_UI_PORT', host: '127.0.0.1', port: address === undefined ? uiPort : 0 },
  ];
  // All ports are held together, so that two settings with the same port are detected too.
  const held: RunningServer[] = [];
  try {
    for (const each of wanted) if (each.port !== 0) held.push(await listen(() => {}, each));
  } finally {
    await Promise.all(held.map((server) => server.close(0)));
  }
}

/** The whole service on one machine: `npm start`. */
await runProcess('pms', async (settings, log, parts, stopRequested) => {
  const { dataDir } = settings;
  const lock = await lockDataDir(dataDir);
  parts.add('the data directory', () => lock.release());
  await checkPorts(settings);

  const encryptionKeys = settings.encryptionKeys ?? [
    Buffer.from((await keptSecret(dataDir, 'encryption-key', () => randomBytes(32).toString('base64'))).text, 'base64'),
  ];
  const firstKey = await keptSecret(dataDir, 'first-api-key', generateApiKey, settings.bootstrapApiKey);

  // In parallel because each takes a while.
  const [databaseUrl, { address: temporalAddress, sidePorts, uiUrl }] = await Promise.all([
    database(settings, log, parts).then(async (url) => {
      const applied = await migrate(url);
      if (applied.length > 0) log.info({ applied }, 'migrated the database');
      return url;
    }),
    temporal(settings, log, parts),
    workflowBundle(log, createDataConverter(settings.temporal.payloadKeys)),
  ]);
  stopRequested.throwIfAborted();

  const { allowPrivate, notice } = allowPrivateAtStart(settings.host, settings.webhooks.allowPrivate);
  if (notice !== undefined) log.warn(notice);
  const servers = { databaseUrl, temporalAddress, encryptionKeys, allowPrivate, ports: sidePorts ?? [] };
  const dependencies = await connectDependencies(settings, servers, log);
  parts.add('the connections', () => dependencies.close());
  await ensureFirstKey(dependencies.db, firstKey.text);
  if (settings.metricsPort !== 0) {
    const metrics = await serveMetrics(dependencies);
    parts.add('the metrics', () => metrics.close(1_000));
  }
  const workers = await startWorkers(dependencies);
  parts.add('the workers', () => workers.stop());
  const api = await startApi(dependencies, { eager: true, temporalUiUrl: settings.temporal.uiUrl ?? uiUrl });
  // Both in parallel, so that they share one grace period: without workers, a request that waits for a run waits in vain.
  parts.add('the API', () => api.close(settings.shutdownGraceMs, workers.stop()));

  console.log(
    welcomeText({
      host: settings.host,
      port: api.port,
      metricsPort: settings.metricsPort,
      temporal: { address: temporalAddress, isEmbedded: settings.temporal.address === undefined, uiUrl },
      firstKey: {
        file: firstKey.file,
        newText: firstKey.isNew && settings.bootstrapApiKey === undefined ? firstKey.text : undefined,
      },
    }),
  );
  const stopped = new Promise<void>((resolve) => stopRequested.addEventListener('abort', () => resolve()));
  await Promise.race([workers.failed, stopped]);
});
