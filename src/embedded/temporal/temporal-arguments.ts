/** The command by which a development server is recognised among processes. */
export const DEV_SERVER = ['server', 'start-dev'];

interface ServerArguments {
  /** Undefined: in memory. */
  dbFile: string | undefined;
  port: number;
  /** Of its HTTP API and of its metrics. */
  sidePorts: readonly [number, number];
  /** 0: no UI. */
  uiPort: number;
  namespace: string;
  dynamicConfig?: Record<string, string | number | boolean> | undefined;
}

/** Tasks are dispatched round-robin by fairness key, which is a workflow's workspace, instead of in order of arrival. */
const FAIRNESS = { 'matching.useNewMatcher': true, 'matching.enableFairness': true };
/**
 * Partitions spread a task queue over machines. Here there is one, and each partition has a backlog of its own, so that a task
 * could wait for seconds in one while workers poll another.
 */
const ONE_PARTITION = { 'matching.numTaskqueueReadPartitions': 1, 'matching.numTaskqueueWritePartitions': 1 };
/**
 * Timers are held back for a second, so that the hosts of a cluster may disagree on the time by as much; one that is shorter takes
 * a second, too. Here there is one host.
 */
const ONE_CLOCK = { 'history.timerProcessorMaxTimeShift': '10ms' };

/**
 * The list of executions in the UI is written by one worker at a time, up to a second late: SQLite has one writer, and executions
 * should not wait for the list. One that has ended by then is written once instead of twice.
 */
const LIST_COMES_LAST = {
  'history.visibilityProcessorSchedulerWorkerCount': 1,
  'history.visibilityProcessorMaxPollRPS': 1,
  'history.visibilityTaskBatchSize': 1_000,
};

/**
 * The CLI has the server read search attributes from its database with each workflow. Here they are registered once, and whoever
 * does waits until they are known.
 */
const KEPT_ATTRIBUTES = { 'system.forceSearchAttributesCacheRefreshOnRead': false };
/** Workflows whose state is kept in memory, ended ones included; 8,096 by default. The memory goes to `GOGC`, see `temporal.ts`. */
const KEPT_WORKFLOWS = { 'history.hostLevelCacheMaxSize': 1_000 };

const DYNAMIC_CONFIG = {
  ...FAIRNESS,
  ...ONE_PARTITION,
  ...ONE_CLOCK,
  ...LIST_COMES_LAST,
  ...KEPT_ATTRIBUTES,
  ...KEPT_WORKFLOWS,
};

/**
 * SQLite's. At the server's start others write to the file, too (see `dropSpareIndexes`). Copying the write-ahead log into the file takes
 * some 20 ms, and nothing is written meanwhile: it is done at 16 MiB (4,000 pages) instead of 4.
 */
const PRAGMAS = ['journal_mode=wal', 'synchronous=1', 'busy_timeout=5000', 'wal_autocheckpoint=4000'];

/** The arguments of the Temporal CLI for a development server. */
export function argumentsOf({ dbFile, port, sidePorts, uiPort, namespace, dynamicConfig }: ServerArguments): string[] {
  const pragmas = PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]);
  return [
    ...DEV_SERVER,
    '--ip',
    '127.0.0.1',
    '--port',
    String(port),
    '--http-port',
    String(sidePorts[0]),
    '--metrics-port',
    String(sidePorts[1]),
    '--namespace',
    namespace,
    '--log-level',
    'error',
    ...(uiPort === 0 ? ['--headless'] : ['--ui-ip', '127.0.0.1', '--ui-port', String(uiPort)]),
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile, ...pragmas]),
    ...Object.entries({ ...DYNAMIC_CONFIG, ...dynamicConfig }).flatMap(([name, value]) => [
      '--dynamic-config-value',
      `${name}=${JSON.stringify(value)}`,
    ]),
  ];
}
