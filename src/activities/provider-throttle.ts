import { setTimeout as delay } from 'node:timers/promises';
import type { Release } from '../lib/fair-semaphore.ts';

/**
 * Slows down one process's calls to a provider that answers 429, and speeds up again while it does not: each refusal halves the
 * number of calls in flight, each successful round adds one (AIMD, as in TCP), and nothing is sent before the requested wait is
 * over.
 */
export interface ProviderThrottle {
  /**
   * Waits for a turn, runs the call, and adapts to its result.
   * @param stopWaiting ends the wait for a turn; a started call continues
   * @param refusedFor the pause that the provider requests with this error; undefined if it did not refuse
   * @param enter acquires a slot in this process, which is not held while the provider is paused
   */
  run<T>(
    stopWaiting: AbortSignal,
    call: () => Promise<T>,
    refusedFor: (error: unknown) => number | undefined,
    enter?: () => Promise<Release>,
  ): Promise<T>;
  /** Whether no refusal has an effect anymore. */
  readonly isUnlimited: boolean;
  /** When the provider is called again, in milliseconds since the epoch; in the past if it is not paused. */
  readonly pausedUntil: number;
  /** Calls in flight that are currently allowed. */
  readonly limit: number;
  /** Calls waiting for another one to end. */
  readonly waiting: number;
}

const MAX_IN_FLIGHT = 1_000;
/** Refusals while a pause is in effect do not halve the limit again. */
const MIN_PAUSE_MS = 250;
/** After this time one call is tried, whatever the provider said: a quota may have been raised. */
const MAX_PAUSE_MS = 15 * 60_000;

export function createProviderThrottle(): ProviderThrottle {
  let limit = MAX_IN_FLIGHT;
  let inFlight = 0;
  let pausedUntil = 0;
  const waiting = new Set<() => void>();

  function wakeNext(): void {
    const [next] = waiting;
    next?.();
  }

  /** Sleeps until a turn may be free or the signal is aborted. */
  function sleepUntilWoken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  async function takeTurn(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        signal.throwIfAborted();
        const pause = pausedUntil - Date.now();
        if (pause > 0) await delay(pause, undefined, { signal });
        else if (inFlight < Math.max(1, Math.floor(limit))) {
          inFlight += 1;
          return;
        } else await sleepUntilWoken(signal);
      }
    } catch (error) {
      // Passes the turn that woke this call on to another that can use it.
      wakeNext();
      throw error;
    }
  }

  function endTurn(): void {
    inFlight -= 1;
    wakeNext();
  }

  /** The provider may have refused other calls while this one waited for its slot. */
  async function takeTurnAndEnter(signal: AbortSignal, enter: () => Promise<Release>): Promise<Release> {
    for (;;) {
      await takeTurn(signal);
      let release: Release | undefined;
      try {
        release = await enter();
        if (pausedUntil <= Date.now()) return release;
      } catch (error) {
        endTurn();
        throw error;
      }
      release();
      endTurn();
    }
  }

  return {
    get limit() {
      return Math.max(1, Math.floor(limit));
    },
    get pausedUntil() {
      return pausedUntil;
    },
    get waiting() {
      return waiting.size;
    },
    get isUnlimited() {
      return limit === MAX_IN_FLIGHT;
    },
    async run(stopWaiting, call, refusedFor, enter = async () => () => {}) {
      const release = await takeTurnAndEnter(stopWaiting, enter);
      try {
        const result = await call();
        if (limit < MAX_IN_FLIGHT) {
          limit = Math.min(MAX_IN_FLIGHT, limit + 1 / limit);
          wakeNext();
        }
        return result;
      } catch (error) {
        const waitMs = refusedFor(error);
        if (waitMs !== undefined) {
          const now = Date.now();
          if (now >= pausedUntil) limit = Math.max(1, Math.min(limit, inFlight) / 2);
          pausedUntil = Math.max(pausedUntil, now + Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, waitMs)));
        }
        throw error;
      } finally {
        release();
        endTurn();
      }
    },
  };
}
