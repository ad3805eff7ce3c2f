import { setTimeout as delay } from 'node:timers/promises';
import type { AcquireOptions, FairSemaphore, Release } from './fair-semaphore.ts';

/** A slot for some work, for example from a semaphore. */
export interface Slot {
  /** Undefined if none is free. */
  tryAcquire(): Release | undefined;
  /** @throws the reason of `signal`, which ends the wait */
  acquire(signal: AbortSignal): Promise<Release>;
}

/** A slot of a key. */
export function slotOf(semaphore: FairSemaphore, key: string, options: Omit<AcquireOptions, 'signal'> = {}): Slot {
  return {
    tryAcquire: () => semaphore.tryAcquire(key, options.amount),
    acquire: (signal) => semaphore.acquire(key, { ...options, signal }),
  };
}

/** Combines two slots: the holder of the first waits for the second. */
export function bothSlots(first: Slot, second: Slot): Slot {
  const both = (one: Release, other: Release) => () => {
    one();
    other();
  };
  return {
    tryAcquire() {
      const one = first.tryAcquire();
      if (one === undefined) return undefined;
      const other = second.tryAcquire();
      if (other !== undefined) return both(one, other);
      one();
      return undefined;
    },
    async acquire(signal) {
      const one = await first.acquire(signal);
      try {
        return both(one, await second.acquire(signal));
      } catch (error) {
        one();
        throw error;
      }
    },
  };
}

export interface Waiter {
  /** Identifies the waiter: entering again keeps its position. */
  id: string;
  /** Waiters with the same value share a line, whose length is reported. */
  line: string;
  slot: Slot;
  /**
   * Notifies the waiter that a slot is reserved for it.
   * @returns false if it no longer wants the slot
   */
  offer: () => Promise<boolean>;
}

/**
 * Lets work wait for a slot without holding anything, such as a worker's slot: it is sent away and notified when its turn
 * comes.
 */
export interface WaitingRoom {
  /**
   * @returns the slot, to be released once; or the time in ms after which to try again unless notified earlier: a notification
   * is lost with the process. The time grows with the line, so that retries stay cheap
   */
  enter(waiter: Waiter): Promise<{ release: Release } | { comeBackInMs: number }>;
  /** Lines with at least this many waiters. */
  longLines(length: number): string[];
}

export interface WaitingRoomOptions {
  /** How long to wait for a slot before the waiter is sent away: one is often free shortly. */
  maxWaitMs?: number;
  /** How long a slot is reserved for a notified waiter. */
  retentionMs?: number;
}

const MIN_COME_BACK_MS = 30_000;
const MAX_COME_BACK_MS = 10 * 60_000;
/** Per waiter in line, which limits retries to five per second in total. */
const COME_BACK_MS_EACH = 200;

interface Waiting {
  /** Settles when the slot is reserved or the wait was given up. */
  arrived: Promise<void>;
  release: Release | undefined;
  /** Number of callers waiting for it in `enter`. */
  asking: number;
}

export function createWaitingRoom({ maxWaitMs = 100, retentionMs = 5_000 }: WaitingRoomOptions = {}): WaitingRoom {
  const waiting = new Map<string, Waiting>();
  /** Number of waiters in each line. */
  const lines = new Map<string, number>();

  function count(line: string, change: number): void {
    const length = (lines.get(line) ?? 0) + change;
    if (length === 0) lines.delete(line);
    else lines.set(line, length);
  }

  function join({ id, line, slot, offer }: Waiter): Waiting {
    const own: Waiting = { arrived: Promise.resolve(), release: undefined, asking: 0 };
    const arrive = async () => {
      const release = await slot.acquire(new AbortController().signal);
      count(line, -1);
      own.release = release;
      // A caller that is waiting right now takes it.
      if (own.asking > 0) return;
      const giveUp = () => {
        if (own.release === undefined) return;
        own.release = undefined;
        waiting.delete(id);
        release();
      };
      setTimeout(giveUp, retentionMs).unref();
      // If it cannot be notified now, it retries on its own.
      offer().then(
        (isAccepted) => isAccepted || giveUp(),
        () => {},
      );
    };
    waiting.set(id, own);
    count(line, 1);
    own.arrived = arrive();
    return own;
  }

  function take(id: string, own: Waiting): Release | undefined {
    const { release } = own;
    if (release === undefined) return undefined;
    own.release = undefined;
    waiting.delete(id);
    return release;
  }

  function comeBackInMs(line: string): number {
    const ms = Math.min(MAX_COME_BACK_MS, MIN_COME_BACK_MS + (lines.get(line) ?? 0) * COME_BACK_MS_EACH);
    return Math.round(ms * (0.75 + Math.random() / 2));
  }

  return {
    longLines: (length) => [...lines].flatMap(([line, waitingIn]) => (waitingIn >= length ? [line] : [])),
    async enter(waiter) {
      const known = waiting.get(waiter.id);
      const free = known === undefined ? waiter.slot.tryAcquire() : take(waiter.id, known);
      if (free !== undefined) return { release: free };
      const own = known ?? join(waiter);
      own.asking += 1;
      await Promise.race([own.arrived, delay(maxWaitMs)]);
      own.asking -= 1;
      const release = take(waiter.id, own);
      return release === undefined ? { comeBackInMs: comeBackInMs(waiter.line) } : { release };
    },
  };
}
