/** The arguments that identify a development server among processes. */
export const DEV_SERVER = ['server', 'start-dev'];

interface ServerArguments {
  /** Undefined for in memory. */
  dbFile: string | undefined;
  port: number;
  /** Ports of its HTTP API and of its metrics. */
  sidePorts: readonly [number, number];
  /** 0 for no UI. */
  uiPort: number;
  namespace: string;
  dynamicConfig?: Record<string, string | number | boolean> | undefined;
}

/** Tasks are dispatched round-robin by fairness key, which is a workflow's workspace, instead of in order of arrival. */
const FAIRNESS = { 'matching.useNewMatcher': true, 'matching.enableFairness': true };
/**
 * Partitions spread a task queue over machines. Here there is only one, and each partition has its own backlog, so a task could
 * wait for seconds in one while workers poll another.
 */
const ONE_PARTITION = { 'matching.numTaskqueueReadPartitions': 1, 'matching.numTaskqueueWritePartitions': 1 };
/**
 * Timers are delayed by a second because the clocks of a cluster's hosts may differ by that much; a shorter timer takes a second,
 * too. Here there is only one host.
 */
const ONE_CLOCK = { 'history.timerProcessorMaxTimeShift': '10ms' };

/**
 * One worker at a time writes the UI's list of executions, up to a second late: SQLite has one writer, and executions should not
 * wait for the list. An execution that has ended by then is written once instead of twice.
 */
const LIST_COMES_LAST = {
  'history.visibilityProcessorSchedulerWorkerCount': 1,
  'history.visibilityProcessorMaxPollRPS': 1,
  'history.visibilityTaskBatchSize': 1_000,
};

/**
 * The CLI makes the server read search attributes from its database for each workflow. Here they are registered once, and the
 * registration waits until they are known.
 */
const KEPT_ATTRIBUTES = { 'system.forceSearchAttributesCacheRefreshOnRead': false };
/** Workflows whose state is cached, including ended ones; 8,096 by default. The saved memory goes to `GOGC`, see `temporal.ts`. */
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
 * SQLite settings. At the server's start others also write to the file (see `dropSpareIndexes`). Copying the write-ahead log into the
 * file takes about 20 ms and blocks writes, so it is done at 16 MiB (4,000 pages) instead of 4.
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
