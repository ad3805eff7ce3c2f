import { availableParallelism } from 'node:os';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { ThreadReport, ThreadTask } from './thread-task.ts';

/** One workspace gets at most half of them, so there must be a few. */
const MIN_THREADS = 4;
/** Maximum heap of a thread: far above what any evaluator needs for 1 MiB of output. */
const MAX_HEAP_MIB = 192;
const MAX_YOUNG_MIB = 32;
/** Time for a new thread to load its code, even on a busy machine. */
const START_LIMIT_MS = 60_000;
/** How long an idle thread is kept. */
const IDLE_MS = 60_000;
/** If a thread dies on its own, the task is tried once more, because another task may have used up the memory. */
const MAX_TRIES = 2;

/** Why a task did not finish. */
export type ThreadEnd = 'timed_out' | 'out_of_memory' | 'failed';

/** The result of a task, even if its thread had to be terminated. */
export interface ThreadOutcome<Result> {
  /** By index of the evaluator, as far as the task got. */
  results: Map<number, Result>;
  /** Undefined if the task finished. */
  end: ThreadEnd | undefined;
  /** The limit of the stage in which it was terminated. */
  limitMs: number;
}

export interface ThreadRequest {
  workspaceId: string;
  /** Ends the wait for a thread; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Goes ahead of the workspace's other requests. */
  urgent?: boolean;
}

/**
 * Threads for work that may take any time. A thread that exceeds the limit of its task is terminated, which costs only that task.
 */
export interface Threads {
  /** @throws the reason of `request.signal`; Error if no thread can be started or the pool is closed */
  run<Result>(task: ThreadTask, request: ThreadRequest): Promise<ThreadOutcome<Result>>;
  /** Whether a thread is currently free for a workspace. */
  isFree(workspaceId: string): boolean;
  /** Ends all threads. */
  close(): Promise<void>;
}

/** @param onError called for threads that died outside of a task */
export function createThreads({ onError }: { onError: (error: unknown) => void }): Threads {
  const total = Math.max(MIN_THREADS, availableParallelism());
  const slots = createFairSemaphore({ total });
  const pool = new Piscina({
    // Node.js loads it directly, stripping its types.
    filename: new URL('./scoring-thread.ts', import.meta.url).href,
    name: 'runTask',
    minThreads: 0,
    maxThreads: total,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB, maxYoungGenerationSizeMb: MAX_YOUNG_MIB },
    // The environment holds secrets.
    env: {},
  });
  pool.on('error', onError);
  let closed = false;

  async function runOnce<Result>(task: ThreadTask): Promise<ThreadOutcome<Result>> {
    const results = new Map<number, Result>();
    const { port1: port, port2 } = new MessageChannel();
    const stop = new AbortController();
    let begun = false;
    let limitMs = START_LIMIT_MS;
    let timer = setTimeout(() => stop.abort(), limitMs);
    const take = (report: ThreadReport<Result>) => {
      if ('index' in report) {
        results.set(report.index, report.result);
        return;
      }
      begun = true;
      limitMs = report.limitMs;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), limitMs);
    };
    port.on('message', take);
    let end: ThreadEnd | undefined;
    try {
      await pool.run({ task, port: port2 }, { transferList: [port2], signal: stop.signal });
    } catch (error) {
      end = stop.signal.aborted ? 'timed_out' : isOutOfMemory(error) ? 'out_of_memory' : 'failed';
    }
    // Drain messages that were sent but not received yet.
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      take(next.message);
    clearTimeout(timer);
    port.close();
    if (end !== undefined && (closed || !begun))
      throw new Error(`No thread took on the task: ${closed ? 'closed' : end}.`);
    return { results, end, limitMs };
  }

  return {
    isFree: (workspaceId) => {
      const release = slots.tryAcquire(workspaceId);
      release?.();
      return release !== undefined;
    },
    run: <Result>(task: ThreadTask, { workspaceId, signal, urgent }: ThreadRequest) =>
      slots.run(
        workspaceId,
        async () => {
          for (let tries = 1; ; tries += 1) {
            const outcome = await runOnce<Result>(task);
            if (outcome.end === undefined || outcome.end === 'timed_out' || tries === MAX_TRIES) return outcome;
          }
        },
        { signal, urgent },
      ),
    async close() {
      closed = true;
      await pool.destroy();
    },
  };
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
