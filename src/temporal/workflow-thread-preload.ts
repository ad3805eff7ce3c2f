// Runs in each thread that the SDK makes for workflow code, before the SDK's own code (see workflow-threads.ts).
import vm from 'node:vm';
import { getEnvironmentData } from 'node:worker_threads';
import { CALLS_BEGUN, CALLS_ENDED, CALLS_WITH_TIMEOUT, THREAD_CALLS } from './workflow-thread-calls.ts';

const shared = getEnvironmentData(THREAD_CALLS);
if (!(shared instanceof SharedArrayBuffer)) throw new Error('This file belongs into a thread for workflow code.');
const calls = new Int32Array(shared);

interface Script {
  runInContext: (this: Script, context: vm.Context, options?: vm.RunningScriptOptions) => unknown;
}

const script: Script = vm.Script.prototype;
const { runInContext } = script;

/** With `timeout`, Node.js starts and ends a thread for each call. Who watches all calls is told instead. */
script.runInContext = function (contextifiedObject, options): unknown {
  if (options?.timeout === undefined) return runInContext.call(this, contextifiedObject, options);
  const { timeout: _, ...withoutTimeout } = options;
  Atomics.add(calls, CALLS_WITH_TIMEOUT, 1);
  Atomics.add(calls, CALLS_BEGUN, 1);
  try {
    return runInContext.call(this, contextifiedObject, withoutTimeout);
  } finally {
    Atomics.add(calls, CALLS_ENDED, 1);
  }
};
