import { createRequire } from 'node:module';
import process from 'node:process';
import type V8 from 'node:v8';
import vm from 'node:vm';
import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type CallWatch, watchWorkflowCalls } from './workflow-call-watch.ts';

/** The time limit that the SDK sets for each call into workflow code in its `debugMode`. */
const SDK_LIMIT_MS = 0xffff_ffff;
/** Maximum duration of one call into workflow code. Such calls take microseconds. */
const CALL_LIMIT_MS = 5_000;

export interface LeanWorkersOptions {
  log: Logger;
  /** Whether Temporal's UI can show the call stacks of workflows, which requires the SDK's standard workers. Default: false. */
  callStacks?: boolean;
  /** Maximum duration of one call into workflow code, in milliseconds. Default: 5 s. */
  callLimitMs?: number;
}

export interface LeanWorkers<Workers> {
  workers: Workers;
  /** Whether the SDK runs their workflow code the way this module expects. */
  isLean: boolean;
  /** Must be called when they have ended. */
  stop: () => void;
}

/**
 * Creates workers that run workflow code in this thread, without the SDK's watchdog thread for each call and call stack of each promise
 * (docs/decisions/0026-workflow-code-in-the-main-thread.md). A call that exceeds the limit ends the process: workflow code is ours, so
 * that is an endless loop.
 *
 * If the SDK no longer runs workflow code as this expects, an error reports it.
 *
 * @param create creates the workers with these options
 */
export async function createLeanWorkers<Workers>(
  create: (options: Pick<WorkerOptions, 'debugMode'>) => Promise<Workers>,
  { log, callStacks = false, callLimitMs = CALL_LIMIT_MS }: LeanWorkersOptions,
): Promise<LeanWorkers<Workers>> {
  if (callStacks) return { workers: await create({}), isLean: false, stop: () => {} };
  const watch = watchWorkflowCalls(callLimitMs);
  const calls = withoutWatchdogs(watch);
  const stop = () => {
    calls.restore();
    watch.stop();
  };
  try {
    const workers = await ownRejectionsOnly(() => withoutPromiseHook(() => create({ debugMode: true })));
    const isLean = calls.count() > 0 && isHookDenied;
    if (!isLean) log.error('workflow code is run in another way than expected: the Temporal SDK has changed');
    return { workers, isLean, stop };
  } catch (error) {
    stop();
    throw error;
  }
}

interface Script {
  runInContext: (this: Script, context: vm.Context, options?: vm.RunningScriptOptions) => unknown;
}

/** With a time limit, Node.js starts and ends a thread for each call. This watches the SDK's calls instead. */
function withoutWatchdogs(watch: CallWatch) {
  const script: Script = vm.Script.prototype;
  const { runInContext } = script;
  let count = 0;
  script.runInContext = function (context, options) {
    if (options?.timeout !== SDK_LIMIT_MS) return runInContext.call(this, context, options);
    const { timeout: _, ...others } = options;
    count += 1;
    return watch.call(() => runInContext.call(this, context, others));
  };
  const { runInContext: ours } = script;
  return {
    count: () => count,
    restore() {
      // If something else has wrapped it since, leave it in place.
      if (script.runInContext === ours) script.runInContext = runInContext;
    },
  };
}

/** The SDK requests its hook once per process. */
let isHookDenied = false;

/** Prepares the SDK as for a runtime without promise hooks: its queries then report that call stacks are not enabled. */
async function withoutPromiseHook<Result>(work: () => Promise<Result>): Promise<Result> {
  // The SDK reads it from this object.
  const { promiseHooks }: typeof V8 = createRequire(import.meta.url)('node:v8');
  const { createHook } = promiseHooks;
  const { warn } = console;
  promiseHooks.createHook = () => {
    isHookDenied = true;
    console.warn = () => {
      console.warn = warn;
    };
    throw new Error('Call stacks are off.');
  };
  try {
    return await work();
  } finally {
    promiseHooks.createHook = createHook;
    console.warn = warn;
  }
}

/**
 * The SDK attributes every unhandled rejection to workflow code, and throws if it finds no workflow, which would end this process. While
 * `work` runs, only rejections in workflow code are passed to the handlers that it registers.
 */
async function ownRejectionsOnly<Result>(work: () => Promise<Result>): Promise<Result> {
  const before = new Set(process.listeners('unhandledRejection'));
  try {
    return await work();
  } finally {
    for (const listener of process.listeners('unhandledRejection').filter((each) => !before.has(each))) {
      process.off('unhandledRejection', listener);
      process.on('unhandledRejection', (reason, promise) => {
        if (isOfWorkflow(promise)) listener(reason, promise);
      });
    }
  }
}

/** Workflow code has its own globals, and the SDK identifies it by this one. */
function isOfWorkflow(promise: Promise<unknown>): boolean {
  const { constructor: OfItsGlobals } = promise.constructor as unknown as { constructor: typeof Function };
  return new OfItsGlobals('return globalThis.__TEMPORAL_ACTIVATOR__ !== undefined')() === true;
}
