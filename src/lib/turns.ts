import { performance } from 'node:perf_hooks';
import { setImmediate as nextRound } from 'node:timers/promises';
import { createFairSemaphore, type FairSemaphore, type Release } from './fair-semaphore.ts';

/** Whoever has a turn may wait for something, such as a slow statement: that must not keep all others waiting. */
const TURNS = 4;
const STEPS = 16;
/** A break is no longer than this, should much else have been at work during a turn. */
const MAX_BREAK_MS = 1_000;

export interface TurnOptions {
  /** Makes the signal that ends the wait: asked for only where there is one. */
  signal: () => AbortSignal;
  /** Goes before those of the same key that are not urgent. */
  urgent?: boolean;
  /** Within a key, turns go round the groups. Default: all are of one. */
  group?: string;
}

/**
 * Turns at the event loop of a process, for all that is done in it: requests, calls of models, items of rules. They are shared by keys
 * (workspaces, or addresses without a key), so that nobody waits for all that somebody else has in line.
 */
export interface Turns {
  /**
   * Waits for the next step of something short. A key has one in each round of the event loop: however many of its steps are in line,
   * those of others wait for one of them at most.
   * @throws the reason of the signal
   */
  step(key: string, options: TurnOptions): Promise<void>;
  /**
   * Waits for a turn at something that keeps the event loop busy for long, such as a body of megabytes. A key has one at a time, and after
   * it a break for as long as the event loop was busy during it: what others do with many short steps goes on meanwhile.
   * @returns ends the turn; more than once is fine
   * @throws the reason of the signal
   */
  take(key: string, options: TurnOptions): Promise<Release>;
}

export interface TurnsOptions {
  /** Keys that take a step in one round of the event loop. Default: 16. */
  steps?: number;
}

/** One for everything that a process does, so that a key has one share of it. */
export function createTurns({ steps: total = STEPS }: TurnsOptions = {}): Turns {
  const steps = createFairSemaphore({ total, perKey: 1 });
  const turns = createFairSemaphore({ total: TURNS, perKey: 1 });
  return {
    async step(key, options) {
      setImmediate(steps.tryAcquire(key) ?? (await acquire(steps, key, options)));
    },
    async take(key, options) {
      const release = turns.tryAcquire(key) ?? (await acquire(turns, key, options));
      // What arrived meanwhile goes first.
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
