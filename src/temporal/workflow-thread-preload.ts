// Runs in each thread that the SDK makes for workflow code, before the SDK's own code (see workflow-threads.ts).
import v8 from 'node:v8';
import vm from 'node:vm';
import { getEnvironmentData } from 'node:worker_threads';
import {
  CALLS_BEGUN,
  CALLS_ENDED,
  CALLS_WITH_TIMEOUT,
  HOOKS_DENIED,
  THREAD_DATA,
  type ThreadData,
} from './workflow-thread-calls.ts';

const data = getEnvironmentData(THREAD_DATA) as unknown as ThreadData | undefined;
if (data === undefined) throw new Error('This file belongs into a thread for workflow code.');
const calls = new Int32Array(data.counters);

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

if (!data.callStacks) {
  const { warn } = console;
  /**
   * The SDK keeps the call stack of each promise for queries of Temporal's UI, which takes a third of a workflow thread's time. Where
   * Node.js has no such hooks, it tells those queries that there are no call stacks, and warns with each start.
   */
  v8.promiseHooks.createHook = () => {
    Atomics.add(calls, HOOKS_DENIED, 1);
    console.warn = () => {
      console.warn = warn;
    };
    throw new Error('Call stacks are off.');
  };
}
