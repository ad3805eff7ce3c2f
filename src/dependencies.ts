import type { Client } from '@temporalio/client';
import { DefaultLogger, type NativeConnection, Runtime } from '@temporalio/worker';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Settings } from './config.ts';
import { type Database, openDatabase } from './db/database.ts';
import { type Listener, openListener } from './db/listener.ts';
import { type Cipher, createCipher } from './domain/cipher.ts';
import { freePort } from './embedded/ports.ts';
import { createEvaluatorPool, type EvaluatorPool } from './evaluators/threads/evaluator-pool.ts';
import { createTurns, type Turns } from './lib/turns.ts';
import { createModels } from './models/create-models.ts';
import type { ClosableModels } from './models/model.ts';
import { countModelCalls } from './models/model-metrics.ts';
import { createOwnServers, type OwnServers } from './outbound/own-servers.ts';
import type { AllowPrivate } from './outbound/target.ts';
import { createStartLimiter, type StartLimiter } from './services/executions/creation/start-limiter.ts';
import { countExecutions, type OnExecutionEnd } from './services/executions/execution-metrics.ts';
import { addBacklogMetrics } from './services/operations/backlog-metrics.ts';
import { addDatabaseMetrics } from './services/operations/database-metrics.ts';
import { addTemporalMetrics } from './services/operations/temporal-metrics.ts';
import { createIdentityProviders, type IdentityProviders } from './sign-in/providers.ts';
import { traceModels } from './telemetry/model-calls.ts';
import { isTelemetryOn } from './telemetry/settings.ts';
import { traceStarts } from './telemetry/workflows.ts';
import { connectTemporal } from './temporal/connection.ts';
import { type TaskQueues, taskQueuesOf } from './temporal/names.ts';
import { REQUEST_BUCKETS, SCHEDULE_TO_START_BUCKETS } from './temporal/sdk-metrics.ts';

/** Properties that depend on how the service was started: server addresses, encryption keys, allowed webhook addresses. */
export interface Servers {
  databaseUrl: string;
  /** host:port */
  temporalAddress: string;
  encryptionKeys: Buffer[];
  allowPrivate: AllowPrivate;
  /** Other ports of servers that were started with this process. */
  ports?: readonly number[];
}

/** The shared dependencies of the API and the workers, one of each per process. */
export interface Dependencies {
  settings: Settings;
  log: Logger;
  db: Database;
  listener: Listener;
  startLimiter: StartLimiter;
  /** Turns at the event loop of this process, by public workspace id. */
  turns: Turns;
  connection: NativeConnection;
  client: Client;
  taskQueues: TaskQueues;
  models: ClosableModels;
  evaluatorPool: EvaluatorPool;
  cipher: Cipher;
  identityProviders: IdentityProviders;
  registry: Registry;
  /** Where to read the metrics of Temporal's SDK; undefined if metrics are off. */
  sdkMetricsAddress: string | undefined;
  /** Called for each execution that this process ends. */
  onExecutionEnd: OnExecutionEnd;
  allowPrivate: AllowPrivate;
  /** Servers that no caller's address may reach. */
  ownServers: OwnServers;
  close(): Promise<void>;
}

/**
 * The SDK warns about workflow tasks over 5 s. The task of an execution takes as long as its call, whose time limit is
 * MODEL_TIMEOUT.
 */
const LONG_TASK = '[TMPRL1104]';

/** Metrics of the SDK's core, if metrics are on. The core serves them itself, on this machine only. */
const sdkMetrics = (bindAddress: string) => ({
  prometheus: {
    bindAddress,
    countersTotalSuffix: true,
    unitSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: {
      workflow_task_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
      activity_schedule_to_start_latency: SCHEDULE_TO_START_BUCKETS,
      request_latency: REQUEST_BUCKETS,
    },
  },
});

/**
 * Routes the SDK's log into ours and keeps its signal handlers from interfering with ours. Once per process.
 * @param metricsAddress `host:port` where the SDK's core serves its metrics; undefined to disable them
 */
export function installTemporalRuntime(log: Logger, metricsAddress?: string): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (message.startsWith(LONG_TASK)) return;
      const { error, ...fields } = meta ?? {};
      if (error !== undefined) fields['err'] = error;
      if (level === 'ERROR') log.error(fields, message);
      else log.warn(fields, message);
    }),
    telemetryOptions: {
      logging: { filter: 'WARN', forward: {} },
      ...(metricsAddress !== undefined && { metrics: sdkMetrics(metricsAddress) }),
    },
  });
}

/** The servers of this service, as far as known from its settings. Port 0 means none, or a port that is added later. */
function ownServersOf(settings: Settings, servers: Servers, sdkMetricsAddress: string | undefined): OwnServers {
  const { port, metricsPort, codecServer, temporal } = settings;
  const own = createOwnServers();
  const here = [
    port,
    metricsPort,
    codecServer.token === undefined ? 0 : codecServer.port,
    temporal.address === undefined ? temporal.uiPort : 0,
    ...(servers.ports ?? []),
  ];
  for (const each of here) if (each !== 0) own.add(each);
  const urls = [
    { url: servers.databaseUrl, defaultPort: 5432 },
    { url: `tcp://${servers.temporalAddress}`, defaultPort: 7233 },
    { url: temporal.uiUrl, defaultPort: temporal.uiUrl?.startsWith('http:') ? 80 : 443 },
    { url: sdkMetricsAddress && `tcp://${sdkMetricsAddress}`, defaultPort: 0 },
  ];
  for (const { url, defaultPort } of urls) {
    const parsed = url === undefined ? null : URL.parse(url);
    if (parsed === null) continue;
    const host = parsed.hostname.replace(/^\[|\]$/g, '');
    own.add(Number(parsed.port) || defaultPort, host === '' ? undefined : host);
  }
  return own;
}

/**
 * Opens all dependencies.
 * @throws Error if Temporal cannot be reached; the database may come up later
 */
export async function connectDependencies(settings: Settings, servers: Servers, log: Logger): Promise<Dependencies> {
  const sdkMetricsAddress = settings.metricsPort === 0 ? undefined : `127.0.0.1:${await freePort()}`;
  installTemporalRuntime(log, sdkMetricsAddress);
  const ownServers = ownServersOf(settings, servers, sdkMetricsAddress);
  const isTraced = isTelemetryOn(settings.telemetry);
  const interceptors = isTraced ? [traceStarts] : [];
  const { connection, client } = await connectTemporal(servers.temporalAddress, settings, interceptors);
  const db = await openDatabase(servers.databaseUrl, { poolSize: settings.databasePoolSize });
  const listener = openListener(servers.databaseUrl, log);
  const evaluatorPool = createEvaluatorPool({
    onError: (error) => log.error({ err: error }, 'an evaluator thread died; a new one replaces it'),
  });
  const turns = createTurns();
  const created = createModels(settings.models, {
    turns,
    allowPrivate: servers.allowPrivate,
    own: ownServers,
    warn: (message) => log.warn(message),
  });
  const identityProviders = createIdentityProviders(settings.signIn);
  const registry = new Registry();
  const counted = countModelCalls(registry, created);
  const models = isTraced ? traceModels(counted, settings.telemetry.captureContent) : counted;
  // First among the metrics that query the database, so that their own statements do not show up as waiting for a connection.
  addDatabaseMetrics(registry, db);
  addBacklogMetrics(registry, db);
  addTemporalMetrics(registry, readinessChecks({ db, client }).temporal);
  return {
    settings,
    log,
    db,
    listener,
    startLimiter: createStartLimiter(listener),
    turns,
    connection,
    client,
    taskQueues: taskQueuesOf(settings.temporal.taskQueuePrefix),
    models,
    evaluatorPool,
    cipher: createCipher(servers.encryptionKeys),
    identityProviders,
    registry,
    sdkMetricsAddress,
    onExecutionEnd: countExecutions(registry),
    allowPrivate: servers.allowPrivate,
    ownServers,
    async close() {
      await evaluatorPool.close();
      await models.close();
      await identityProviders.close();
      await listener.close();
      await connection.close();
      await db.close();
    },
  };
}

const CHECK_DEADLINE_MS = 2_500;

/** The checks of `/readyz`: each rejects if the service currently cannot work. */
export function readinessChecks({
  db,
  client,
}: Pick<Dependencies, 'db' | 'client'>): Record<'database' | 'temporal', () => Promise<void>> {
  return {
    database: async () => {
      await db.system.query((all) => all.selectNoFrom(sql<number>`1`.as('one')));
    },
    temporal: async () => {
      await client.withDeadline(Date.now() + CHECK_DEADLINE_MS, () =>
        client.workflowService.describeNamespace({ namespace: client.options.namespace }),
      );
    },
  };
}
