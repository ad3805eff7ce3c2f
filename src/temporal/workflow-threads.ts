import { createRequire } from 'node:module';
import process from 'node:process';
import type * as WorkerThreads from 'node:worker_threads';
import type { Logger } from 'pino';
import {
  CALLS_BEGUN,
  CALLS_ENDED,
  CALLS_WITH_TIMEOUT,
  COUNTERS,
  HOOKS_DENIED,
  THREAD_DATA,
  type ThreadData,
} from './workflow-thread-calls.ts';

/** How long one call into workflow code may take, as with the SDK's own limit. Such calls take microseconds. */
const CALL_LIMIT_MS = 5_000;
const CHECKS = 5;

const SDK_THREAD = /[\\/]workflow-worker-thread\.js$/;
const PRELOAD = new URL('./workflow-thread-preload.ts', import.meta.url).href;

interface Thread {
  worker: WorkerThreads.Worker;
  calls: Int32Array;
  /** Number of the call that was in flight at the last check, and at how many checks it was. */
  stuck: { call: number; checks: number };
}

export interface WorkflowThreadsOptions {
  log: Logger;
  /** Whether Temporal's UI can show the call stacks of workflows, for a third of the threads' time. Default: false. */
  callStacks?: boolean;
  /** How long one call may take, in milliseconds. Default: 5 s. */
  callLimitMs?: number;
}

/** Watches the threads of workers that were made with {@link createLeanWorkers}. */
export interface WorkflowThreads {
  /** Whether each thread runs without the SDK's watchdogs, and keeps no call stacks that nobody wants. */
  readonly lean: boolean;
  stop(): void;
}

/**
 * Makes workers whose calls into workflow code have one watcher for all instead of a watchdog thread for each: the SDK gives
 * `vm` a time limit, for which Node.js starts and ends a thread with every call, 15 to 25 an execution
 * (docs/decisions/0012-one-watcher-for-workflow-code.md). A call that takes longer than the limit ends its thread, and with it
 * the worker: workflow code is ours, so that is an endless loop. Nor do they keep the call stack of each promise
 * (docs/decisions/0024-no-call-stacks-of-workflows.md).
 *
 * Where the SDK no longer makes its threads or its calls as this expects, workers run as the SDK made them, and an error says so.
 *
 * @param create makes the workers; no other threads may be made meanwhile
 */
export async function createLeanWorkers<Workers>(
  create: () => Promise<Workers>,
  { log, callStacks = false, callLimitMs = CALL_LIMIT_MS }: WorkflowThreadsOptions,
): Promise<{ workers: Workers; threads: WorkflowThreads }> {
  // The SDK reads the constructor from this object each time.
  const module: typeof WorkerThreads = createRequire(import.meta.url)('node:worker_threads');
  const { Worker, setEnvironmentData } = module;
  const threads: Thread[] = [];

  class PreloadingWorker extends Worker {
    constructor(file: string | URL, options?: WorkerThreads.WorkerOptions) {
      const isForWorkflows = SDK_THREAD.test(String(file));
      const counters = new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT);
      const data: ThreadData = { counters, callStacks };
      if (isForWorkflows) setEnvironmentData(THREAD_DATA, data);
      super(file, isForWorkflows ? { ...options, execArgv: [...threadArguments(), '--import', PRELOAD] } : options);
      if (isForWorkflows) {
        setEnvironmentData(THREAD_DATA, undefined);
        threads.push({ worker: this, calls: new Int32Array(counters), stuck: { call: -1, checks: 0 } });
      }
    }
  }

  module.Worker = PreloadingWorker;
  let workers: Workers;
  try {
    workers = await create();
  } finally {
    module.Worker = Worker;
  }

  const everyThreadCounted = (counter: number) =>
    threads.length > 0 && threads.every(({ calls }) => Atomics.load(calls, counter) > 0);
  const unwatched = everyThreadCounted(CALLS_WITH_TIMEOUT);
  const withoutStacks = callStacks || everyThreadCounted(HOOKS_DENIED);
  if (!unwatched)
    log.error('workflow code runs with a watchdog thread for each call: the Temporal SDK has changed how it calls it');
  if (!withoutStacks) log.error('call stacks of workflows are kept: the Temporal SDK has changed how it keeps them');
  const timer = setInterval(() => {
    for (const thread of threads) endIfStuck(thread, callLimitMs, log);
  }, callLimitMs / CHECKS);
  timer.unref();
  return { workers, threads: { lean: unwatched && withoutStacks, stop: () => clearInterval(timer) } };
}

/** What a thread may be given of this process's own arguments: none of V8's or of the process's as a whole. */
function threadArguments(): string[] {
  return process.execArgv.filter((argument) => /^--(?:import|require|conditions|disable-warning)=/.test(argument));
}

function endIfStuck(thread: Thread, limitMs: number, log: Logger): void {
  const { worker, calls, stuck } = thread;
  const call = Atomics.load(calls, CALLS_BEGUN);
  if (Atomics.load(calls, CALLS_ENDED) === call || stuck.call !== call) {
    stuck.call = call;
    stuck.checks = 0;
    return;
  }
  stuck.checks += 1;
  if (stuck.checks !== CHECKS) return;
  log.fatal(`workflow code did not come back within ${limitMs} ms: its thread is ended, and with it the worker`);
  void worker.terminate();
}
