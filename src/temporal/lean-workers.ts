import { createRequire } from 'node:module';
import process from 'node:process';
import type V8 from 'node:v8';
import vm from 'node:vm';
import type { WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { type CallWatch, watchWorkflowCalls } from './workflow-call-watch.ts';

/** The time limit that the SDK gives each call into workflow code in its `debugMode`. */
const SDK_LIMIT_MS = 0xffff_ffff;
/** How long one call into workflow code may take. Such calls take microseconds. */
const CALL_LIMIT_MS = 5_000;

export interface LeanWorkersOptions {
  log: Logger;
  /** Whether Temporal's UI can show the call stacks of workflows. Workers are then as the SDK makes them. Default: false. */
  callStacks?: boolean;
  /** How long one call into workflow code may take, in milliseconds. Default: 5 s. */
  callLimitMs?: number;
}

export interface LeanWorkers<Workers> {
  workers: Workers;
  /** Whether the SDK runs their workflow code as this module expects. */
  isLean: boolean;
  /** To be called when they have ended. */
  stop: () => void;
}

/**
 * Makes workers that run workflow code in this thread, without the SDK's watchdog thread for each call, without its call stack of each promise
 * (docs/decisions/0026-workflow-code-in-the-main-thread.md). A call that takes longer than the limit ends the process: workflow code is ours,
 * so that is an endless loop.
 *
 * Where the SDK no longer runs workflow code as this expects, an error says so.
 *
 * @param create makes the workers, with these options
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

/** With a time limit, Node.js starts and ends a thread for each call. The calls of the SDK are watched instead. */
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
      // Where another one has been put over it, that one goes on with it.
      if (script.runInContext === ours) script.runInContext = runInContext;
    },
  };
}

/** The SDK asks for its hook once in a process. */
let isHookDenied = false;

/** The SDK is prepared for a runtime that has no hooks for promises: its queries then say that call stacks are not enabled. */
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
 * The SDK takes every promise that is rejected without a handler for one of workflow code, and throws where it finds no workflow, which would end
 * this process. Only those of workflow code are passed on to what it registers while `work` goes on.
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

/** Workflow code has globals of its own, which the SDK knows by this one. */
function isOfWorkflow(promise: Promise<unknown>): boolean {
  const { constructor: OfItsGlobals } = promise.constructor as unknown as { constructor: typeof Function };
  return new OfItsGlobals('return globalThis.__TEMPORAL_ACTIVATOR__ !== undefined')() === true;
}
