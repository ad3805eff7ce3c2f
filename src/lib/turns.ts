import { performance } from 'node:perf_hooks';
import { setImmediate as nextRound } from 'node:timers/promises';
import { createFairSemaphore, type FairSemaphore, type Release } from './fair-semaphore.ts';

/** The holder of a turn may wait for something, such as a slow statement, which must not block all others. */
const TURNS = 4;
const STEPS = 16;
/** Maximum break after a turn, even if much else was running during it. */
const MAX_BREAK_MS = 1_000;

export interface TurnOptions {
  /** Creates the signal that ends the wait; called only if there is a wait. */
  signal: () => AbortSignal;
  /** Goes ahead of non-urgent waiters of the same key. */
  urgent?: boolean;
  /** Within a key, groups take turns. Default: one common group. */
  group?: string;
}

/**
 * Turns at the event loop of a process, for everything in it: requests, model calls, items of rules. Keys (workspaces, or addresses
 * without a key) share them, so that no key waits for another key's whole queue.
 */
export interface Turns {
  /**
   * Waits for the next step of short work. A key has one step per round of the event loop: however many it has queued, others wait
   * for at most one of them.
   * @throws the reason of the signal
   */
  step(key: string, options: TurnOptions): Promise<void>;
  /**
   * Waits for a turn at work that blocks the event loop for long, such as parsing megabytes. A key has one at a time, followed by a break
   * as long as the event loop was blocked, in which others run their short steps.
   * @returns ends the turn; can be called repeatedly
   * @throws the reason of the signal
   */
  take(key: string, options: TurnOptions): Promise<Release>;
}

export interface TurnsOptions {
  /** Keys that get a step in one round of the event loop. Default: 16. */
  steps?: number;
}

/** Create one per process, so that each key has a single share of it. */
export function createTurns({ steps: total = STEPS }: TurnsOptions = {}): Turns {
  const steps = createFairSemaphore({ total, perKey: 1 });
  const turns = createFairSemaphore({ total: TURNS, perKey: 1 });
  return {
    async step(key, options) {
      setImmediate(steps.tryAcquire(key) ?? (await acquire(steps, key, options)));
    },
    async take(key, options) {
      const release = turns.tryAcquire(key) ?? (await acquire(turns, key, options));
      // Anything that arrived in the meantime goes first.
      await nextRound();
      const began = performance.eventLoopUtilization();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        const { active } = performance.eventLoopUtilization(began);
        setTimeout(release, Math.min(active, MAX_BREAK_MS));
      };
    },
  };
}

const acquire = (semaphore: FairSemaphore, key: string, { signal, ...options }: TurnOptions): Promise<Release> =>
  semaphore.acquire(key, { ...options, signal: signal() });
