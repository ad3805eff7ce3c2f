import { RoundRobin } from './round-robin.ts';

/** Gives a place back. Calling it again changes nothing. */
export type Release = () => void;

export interface AcquireOptions {
  /** Ends the wait; the reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Goes before those of the same key that are not urgent. */
  urgent?: boolean | undefined;
  /** Within a key, turns go round the groups. Default: all are of one. */
  group?: string | undefined;
}

/** A counting semaphore whose places are shared by keys (workspaces), so that none of them can take all. */
export interface FairSemaphore {
  /**
   * Waits for a place.
   * @throws the reason of `signal`
   */
  acquire(key: string, options?: AcquireOptions): Promise<Release>;
  /** A place, where there is one for this key and nobody of it waits; undefined otherwise. */
  tryAcquire(key: string): Release | undefined;
  /** Does `work` in a place of its own. */
  run<T>(key: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T>;
  /** Places that a key has. */
  inUse(key: string): number;
  /** How many of a key wait. */
  waiting(key: string): number;
}

export interface FairSemaphoreOptions {
  /** Places in all. */
  total: number;
  /** Places that one key may have at most. Default: `total`. */
  perKey?: number;
}

interface Waiter {
  admit(release: Release): void;
}

/** Those of one key that wait. */
interface Waiters {
  urgent: RoundRobin<Waiter>;
  patient: RoundRobin<Waiter>;
}

const countOf = ({ urgent, patient }: Waiters) => urgent.size + patient.size;

/**
 * Admits a key while it has fewer places than `perKey` and fewer than are free. So the more a key has, the more must be left
 * for others: one key alone gets at most half of a small semaphore, and a newcomer finds a place as long as one is free.
 * Turns go round the keys that wait; within a key, the urgent come first, and turns go round the groups.
 *
 * The rule is the dynamic threshold of Choudhury and Hahne for shared memory in switches (IEEE/ACM Transactions on
 * Networking 6(2), 1998), with α = 1.
 */
export function createFairSemaphore({ total, perKey = total }: FairSemaphoreOptions): FairSemaphore {
  let free = total;
  const used = new Map<string, number>();
  /** In the order of their next turn. */
  const queues = new Map<string, Waiters>();

  const inUse = (key: string) => used.get(key) ?? 0;
  const isAdmitted = (key: string) => inUse(key) < Math.min(perKey, free);

  function take(key: string): Release {
    free -= 1;
    used.set(key, inUse(key) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      free += 1;
      const left = inUse(key) - 1;
      if (left === 0) used.delete(key);
      else used.set(key, left);
      admitWaiting();
    };
  }

  function admitWaiting(): void {
    // A key that is put back at the end is come to again: this goes round until nobody can be admitted.
    for (const [key, queue] of queues) {
      if (free === 0) return;
      if (!isAdmitted(key)) continue;
      const next = queue.urgent.shift() ?? queue.patient.shift();
      queues.delete(key);
      if (countOf(queue) > 0) queues.set(key, queue);
      next?.admit(take(key));
    }
  }

  /** @returns a function that ends the wait */
  function enqueue(key: string, waiter: Waiter, { urgent = false, group = '' }: AcquireOptions): () => void {
    const queue = queues.get(key) ?? { urgent: new RoundRobin(), patient: new RoundRobin() };
    queues.set(key, queue);
    const line = urgent ? queue.urgent : queue.patient;
    line.push(group, waiter);
    return () => {
      line.delete(group, waiter);
      if (countOf(queue) === 0 && queues.get(key) === queue) queues.delete(key);
    };
  }

  const tryAcquire = (key: string) => (!queues.has(key) && isAdmitted(key) ? take(key) : undefined);

  function acquire(key: string, options: AcquireOptions = {}): Promise<Release> {
    const { signal } = options;
    signal?.throwIfAborted();
    const release = tryAcquire(key);
    if (release !== undefined) return Promise.resolve(release);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        admit(admitted) {
          signal?.removeEventListener('abort', onAbort);
          resolve(admitted);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const leave = enqueue(key, waiter, options);
    });
  }

  return {
    // Also what is wrong from the start is a rejection.
    acquire: async (key, options) => acquire(key, options),
    tryAcquire,
    async run(key, work, options) {
      const release = await acquire(key, options);
      try {
        return await work();
      } finally {
        release();
      }
    },
    inUse,
    waiting(key) {
      const queue = queues.get(key);
      return queue === undefined ? 0 : countOf(queue);
    },
  };
}
