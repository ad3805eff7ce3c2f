import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { createActivities } from './activities/index.ts';
import { CLEAN_UP_EVERY_MS } from './capabilities/capability.ts';
import { CAPABILITIES, expiredBy } from './capabilities.ts';
import { requireServers } from './config.ts';
import { connectDependencies, type Dependencies } from './dependencies.ts';
import { MAX_SCORER_TIMEOUT_MS } from './evaluators/types/http.ts';
import { cleanUp } from './jobs/clean-up.ts';
import { reEncryptSecrets } from './jobs/re-encrypt-secrets.ts';
import { startRelay } from './jobs/relay.ts';
import { removeWorkspaces } from './jobs/remove-workspaces.ts';
import { countTasks } from './jobs/task-metrics.ts';
import { runProcess } from './lifecycle.ts';
import { serveMetrics } from './metrics.ts';
import { createOutbound } from './outbound/outbound.ts';
import { countEvaluations } from './services/evaluations/evaluation-metrics.ts';
import { countScorerRequests } from './services/evaluations/run/scorer-metrics.ts';
import { countSpend } from './services/operations/spend-metrics.ts';
import { createStreamWriter } from './services/streams/stream-writer.ts';
import { createAttemptMaker } from './services/webhooks/deliveries/make-attempt.ts';
import { createWebhookMetrics } from './services/webhooks/webhook-metrics.ts';
import { createQuotas } from './services/workspaces/quotas.ts';
import { traceOutbound } from './telemetry/requests-out.ts';
import { traceScoring } from './telemetry/scoring.ts';
import { isTelemetryOn } from './telemetry/settings.ts';
import { traceActivities } from './telemetry/workflows.ts';
import { boundedFailures } from './temporal/bounded-failures.ts';
import { createDataConverter } from './temporal/data-converter.ts';
import { createLeanWorkers } from './temporal/lean-workers.ts';
import { keepSearchAttributes } from './temporal/search-attributes.ts';
import { createSlots } from './temporal/slots.ts';
import { signalSlotFree } from './temporal/workflows.ts';
import { workflowBundle } from './workflows/bundle.ts';

/** Executions that wait for a slot or a retry, and are kept in memory. */
const SPARE_WORKFLOWS = 500;
/** Workers of every queue and the recurring tasks, until `stop`. */
export interface RunningWorkers {
  /** Rejects if a worker ends unexpectedly. */
  failed: Promise<never>;
  /**
   * Starts nothing more and waits for calls in flight, `SHUTDOWN_GRACE` at most; returns immediately if there are none. Further
   * calls wait for the same stop.
   */
  stop(): Promise<void>;
}

/**
 * Starts the workers of this process.
 * @param reconcileEveryMs how often to check for unfinished work. Default: the setting
 */
export async function startWorkers(
  {
    db,
    listener,
    startLimiter,
    turns,
    cipher,
    identityProviders,
    registry,
    onExecutionEnd,
    allowPrivate,
    ownServers,
    client,
    taskQueues,
    connection,
    models,
    evaluatorPool,
    settings,
    log,
  }: Dependencies,
  { reconcileEveryMs = settings.reconcileEveryMs }: { reconcileEveryMs?: number } = {},
): Promise<RunningWorkers> {
  const registerSearchAttributes = keepSearchAttributes(client, log);
  await registerSearchAttributes();
  const starter = { client, taskQueues, eager: true, retryWaitsMs: settings.webhooks.retryWaitsMs };
  const isTraced = isTelemetryOn(settings.telemetry);
  const openOutbound = (timeoutMs: number) => {
    const opened = createOutbound({ allowPrivate, own: ownServers, timeoutMs });
    return isTraced ? traceOutbound(opened) : opened;
  };
  const outbound = openOutbound(settings.webhooks.timeoutMs);
  const scorers = countScorerRequests(registry, openOutbound(MAX_SCORER_TIMEOUT_MS));
  const slots = createSlots({
    workspaceConcurrency: settings.workspaceConcurrency,
    hostConcurrency: settings.webhooks.hostConcurrency,
    offer: (workflowId, step) => signalSlotFree(client, workflowId, step),
  });
  // Loaded lazily: most installations have no mail server, and its client is slow to load.
  const mailer =
    settings.mail === undefined ? undefined : (await import('./mail/mailer.ts')).createMailer(settings.mail);
  const stopping = new AbortController();
  const graceOver = new AbortController();
  const webhookMetrics = createWebhookMetrics(registry, db);
  const onEvaluationEnd = countEvaluations(registry);
  const onUsed = countSpend(registry);
  const runEvery = countTasks(registry);
  const attempts = createAttemptMaker({ db, cipher, outbound, webhookMetrics, memory: slots.deliveries });
  const activities = createActivities({
    stopping: stopping.signal,
    graceOver: graceOver.signal,
    listener,
    log,
    db,
    onExecutionEnd,
    onEvaluationEnd,
    cipher,
    scorers,
    models,
    modelTimeoutMs: settings.models.timeoutMs,
    evaluatorPool,
    starter,
    quotas: createQuotas(settings.quotas),
    attempts,
    slots,
    turns,
    followScoring: isTraced ? traceScoring(settings.telemetry.captureContent) : undefined,
    startLimiter,
    streams: createStreamWriter({ query: db.system.query, log }),
    mailer,
  });
  const dataConverter = createDataConverter(settings.temporal.payloadKeys);
  const shared = {
    connection,
    namespace: settings.temporal.namespace,
    workflowBundle: await workflowBundle(log, dataConverter),
    dataConverter,
    shutdownGraceTime: settings.shutdownGraceMs,
    interceptors: { activity: [boundedFailures, ...(isTraced ? [traceActivities] : [])] },
    // Heartbeats deliver cancellations.
    maxHeartbeatThrottleInterval: '1 second' as const,
    // Other workers soon continue with the workflows in a dead worker's cache.
    stickyQueueScheduleToStartTimeout: '3 seconds' as const,
  };
  const createWorkers = async (options: Pick<WorkerOptions, 'debugMode'>) => [
    await Worker.create({
      ...shared,
      ...options,
      taskQueue: taskQueues.executions,
      activities: activities.executions,
      enableNonLocalActivities: false,
      // A call holds both a workflow and a local activity slot while it runs.
      maxConcurrentLocalActivityExecutions: slots.ofWorkers.executions,
      maxConcurrentWorkflowTaskExecutions: slots.ofWorkers.executions,
      maxCachedWorkflows: slots.ofWorkers.executions + SPARE_WORKFLOWS,
    }),
    await Worker.create({
      ...shared,
      ...options,
      taskQueue: taskQueues.evaluations,
      activities: activities.evaluations,
      maxConcurrentActivityTaskExecutions: slots.ofWorkers.evaluations,
      // Batches run for long, so poll for one at a time. Each open poll of a frozen process swallows one task until its heartbeat is
      // missed. (The SDK ignores maxConcurrentActivityTaskPolls: 1.24 polls 10.)
      activityTaskPollerBehavior: { type: 'simple-maximum' as const, maximum: 1 },
    }),
    await Worker.create({
      ...shared,
      ...options,
      taskQueue: taskQueues.webhooks,
      activities: activities.webhooks,
      maxConcurrentActivityTaskExecutions: slots.ofWorkers.webhooks,
    }),
  ];
  const { workers, stop: stopWatching } = await createLeanWorkers(createWorkers, {
    log,
    callStacks: settings.temporal.callStacks,
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  const failed = running.then<never>(() => new Promise<never>(() => {}));
  const reEncrypting = reEncryptSecrets(db.system, cipher, { log, announce: true }).catch((error: unknown) =>
    log.warn({ err: error }, 'cannot check the keys of the secrets; trying again'),
  );
  const jobs = CAPABILITIES.flatMap(
    (each) =>
      each.jobs?.({
        db,
        cipher,
        identityProviders,
        models,
        onExecutionEnd,
        onEvaluationEnd,
        onUsed,
        starter,
        mailer,
        reconcileEveryMs,
        searchIndex: settings.searchIndex,
        log,
      }) ?? [],
  );
  const tasks = [
    startRelay({
      db,
      listener,
      starter,
      log,
      attempts,
      slots,
      saturated: () => slots.saturated(),
      graceOver: graceOver.signal,
    }),
    runEvery('register search attributes', reconcileEveryMs, log, registerSearchAttributes),
    ...jobs.map(({ name, everyMs, run, atOnce }) => runEvery(name, everyMs, log, run, { atOnce })),
    runEvery('clean up', CLEAN_UP_EVERY_MS, log, (stopping) =>
      cleanUp(db.system, expiredBy(settings.retention), stopping),
    ),
    runEvery('remove workspaces', reconcileEveryMs, log, (stopping) =>
      removeWorkspaces({ db, starter, log, onExecutionEnd, capabilities: CAPABILITIES }, stopping),
    ),
  ];
  async function stop(): Promise<void> {
    stopping.abort();
    const grace = setTimeout(() => graceOver.abort(), settings.shutdownGraceMs);
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.all([reEncrypting, ...tasks.map((task) => task.stop())]);
    await running.catch((error: unknown) => log.error({ err: error }, 'a worker had failed'));
    clearTimeout(grace);
    stopWatching();
    const closing = Promise.all([outbound.close(), scorers.close()]);
    // Work still in flight after the grace period is left to other workers, which take it over when its claim expires.
    if (!graceOver.signal.aborted) await closing;
    mailer?.close();
  }
  let stopped: Promise<void> | undefined;
  return {
    failed,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Runs the workers as a separate process: `npm run worker`. */
async function main(): Promise<void> {
  await runProcess('worker', async (settings, log, parts, stopRequested) => {
    const dependencies = await connectDependencies(settings, requireServers(settings), log);
    parts.add('the connections', () => dependencies.close());
    let isAtWork = false;
    if (settings.metricsPort !== 0) {
      const metrics = await serveMetrics(dependencies, () => isAtWork);
      parts.add('the metrics', () => metrics.close(1_000));
    }
    const workers = await startWorkers(dependencies);
    parts.add('the workers', () => {
      isAtWork = false;
      return workers.stop();
    });
    isAtWork = true;
    log.info('workers started');
    const stopped = new Promise<void>((resolve) => stopRequested.addEventListener('abort', () => resolve()));
    await Promise.race([workers.failed, stopped]);
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) void main();
