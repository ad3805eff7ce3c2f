import { writeSync } from 'node:fs';
import process from 'node:process';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** Index of each counter. They wrap around; only equality and changes matter. */
const BEGUN = 0;
const ENDED = 1;
const STOPPED = 2;
const COUNTERS = 3;
const CHECKS = 5;
const STDERR = 2;

interface WatchData {
  counters: Int32Array;
  limitMs: number;
}

/** Watches calls that must not block this thread for long. */
export interface CallWatch {
  /** Makes a call. */
  call<Result>(work: () => Result): Result;
  stop(): void;
}

/** Starts a thread that ends this process if a call takes longer than `limitMs`: nothing in this thread could. */
export function watchWorkflowCalls(limitMs: number): CallWatch {
  const counters = new Int32Array(new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT));
  const data: WatchData = { counters, limitMs };
  const thread = new Worker(new URL(import.meta.url), { workerData: data, execArgv: [], env: {} });
  thread.unref();
  return {
    call(work) {
      Atomics.add(counters, BEGUN, 1);
      try {
        return work();
      } finally {
        Atomics.add(counters, ENDED, 1);
      }
    },
    stop() {
      Atomics.store(counters, STOPPED, 1);
      Atomics.notify(counters, STOPPED);
    },
  };
}

/** Runs in the thread: polls a few times within the limit until it is stopped. A machine that hangs for a while counts as one poll. */
function watch({ counters, limitMs }: WatchData): void {
  let call = -1;
  let checks = 0;
  while (Atomics.wait(counters, STOPPED, 0, limitMs / CHECKS) === 'timed-out') {
    const begun = Atomics.load(counters, BEGUN);
    const isSame = begun === call && begun !== Atomics.load(counters, ENDED);
    call = begun;
    checks = isSame ? checks + 1 : 0;
    if (checks === CHECKS) {
      writeSync(STDERR, `Workflow code did not return within ${limitMs} ms: this process is ended.\n`);
      process.kill(process.pid, 'SIGKILL');
    }
  }
}

if (!isMainThread && (workerData as Partial<WatchData> | null)?.counters instanceof Int32Array)
  watch(workerData as WatchData);
