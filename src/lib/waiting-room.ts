import { setTimeout as delay } from 'node:timers/promises';
import type { AcquireOptions, FairSemaphore, Release } from './fair-semaphore.ts';

/** A slot in which something is done, as of a semaphore's key. */
export interface Slot {
  /** Undefined where there is none at the moment. */
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

/** Both slots at once: whoever has the first waits for the second. */
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
  /** Names it: asking again keeps its position. */
  id: string;
  /** Who shares a line, for telling how long it is. */
  line: string;
  slot: Slot;
  /**
   * Tells it that its place is kept for it.
   * @returns false where it no longer wants it
   */
  offer: () => Promise<boolean>;
}

/**
 * Lets work wait for its place without holding on to anything, such as a slot of a worker: it is sent away, and offered when
 * its turn has come.
 */
export interface WaitingRoom {
  /**
   * @returns the slot, to be given back once; or, without one, after how many ms to ask again unless offered before: an
   * offer is lost with the process. That time grows with the line, so that asking costs little however long it is
   */
  enter(waiter: Waiter): Promise<{ release: Release } | { comeBackInMs: number }>;
  /** Lines in which at least so many wait. */
  longLines(length: number): string[];
}

export interface WaitingRoomOptions {
  /** A slot may be free in no time: it is waited for as long as this before the waiter is sent away. */
  maxWaitMs?: number;
  /** How long a slot is kept for who was offered. */
  retentionMs?: number;
}

const MIN_COME_BACK_MS = 30_000;
const MAX_COME_BACK_MS = 10 * 60_000;
/** For each of those in line: they ask five times a second in all. */
const COME_BACK_MS_EACH = 200;

interface Waiting {
  /** Settles when the slot has come or the wait was given up. */
  arrived: Promise<void>;
  release: Release | undefined;
  /** How many wait for it in `enter`. */
  asking: number;
}

export function createWaitingRoom({ maxWaitMs = 100, retentionMs = 5_000 }: WaitingRoomOptions = {}): WaitingRoom {
  const waiting = new Map<string, Waiting>();
  /** How many wait in each line. */
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
      // Whoever asks at the moment takes it.
      if (own.asking > 0) return;
      const giveUp = () => {
        if (own.release === undefined) return;
        own.release = undefined;
        waiting.delete(id);
        release();
      };
      setTimeout(giveUp, retentionMs).unref();
      // Where it can't be told now, it comes back by itself.
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
