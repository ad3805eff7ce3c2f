import { setTimeout as delay } from 'node:timers/promises';
import type { Release } from '../lib/fair-semaphore.ts';

/**
 * Slows the calls of one process to a provider down when it answers 429, and speeds them up again while it does not:
 * the number of calls in flight is halved at each refusal and grows by one for each round that went through (AIMD, as TCP
 * does), and nothing is sent before the time the provider asked to wait for is over.
 */
export interface ProviderThrottle {
  /**
   * Waits for a turn, runs the call, and learns from how it went.
   * @param stopWaiting ends the wait for a turn; a call that has begun goes on
   * @param refusedFor how long the provider wants to be left alone after this error; undefined where it did not refuse
   * @param enter waits for the call's place in this process, which it does not hold while the provider is left alone
   */
  run<T>(
    stopWaiting: AbortSignal,
    call: () => Promise<T>,
    refusedFor: (error: unknown) => number | undefined,
    enter?: () => Promise<Release>,
  ): Promise<T>;
  /** Nothing is left of any refusal. */
  readonly isUnlimited: boolean;
  /** When the provider is asked again, in milliseconds since the epoch; in the past where it is not left alone. */
  readonly pausedUntil: number;
  /** Calls in flight allowed at the moment. */
  readonly limit: number;
  /** Calls that wait until another one has ended. */
  readonly waiting: number;
}

const MAX_IN_FLIGHT = 1_000;
/** Refusals that come while the last one is still being heeded do not halve again. */
const MIN_PAUSE_MS = 250;
/** After this long one call asks again, whatever the provider said: a quota may have been raised meanwhile. */
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

  /** Until a turn may be free, or the signal is aborted. */
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
      // The turn that this call was woken for goes to another one that can use it.
      wakeNext();
      throw error;
    }
  }

  function endTurn(): void {
    inFlight -= 1;
    wakeNext();
  }

  /** A provider may have refused others while the call waited for its place. */
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
