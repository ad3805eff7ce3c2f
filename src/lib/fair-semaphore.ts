import { RoundRobin } from './round-robin.ts';

/**
 * Gives what was taken back, but for the first `kept` of it (default: nothing is kept). What was given back is not given back again.
 */
export type Release = (kept?: number) => void;

export interface AcquireOptions {
  /** Places to take. What is more than a key may have is taken as all that it may have. Default: 1. */
  amount?: number | undefined;
  /** Ends the wait; the reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Goes before those of the same key that are not urgent. */
  urgent?: boolean | undefined;
  /** Within a key, turns go round the groups. Default: all are of one. */
  group?: string | undefined;
}

/**
 * A counting semaphore whose slots (or bytes) are shared by keys (workspaces), so that none of them can take all.
 */
export interface FairSemaphore {
  /**
   * Waits for a place.
   * @throws the reason of `signal`
   */
  acquire(key: string, options?: AcquireOptions): Promise<Release>;
  /** A place, where there is one for this key and nobody of it waits; undefined otherwise. */
  tryAcquire(key: string, amount?: number): Release | undefined;
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
  amount: number;
  admit(release: Release): void;
}

/** Those of one key that wait. */
interface Waiters {
  urgent: RoundRobin<Waiter>;
  usual: RoundRobin<Waiter>;
}

const countOf = ({ urgent, usual }: Waiters) => urgent.size + usual.size;

/**
 * Admits a key as long as it has no more slots than `perKey`, and no more than are free. So the more a key has, the more must be left
 * for others: one key alone gets at most half of a small semaphore, and a newcomer finds a place as long as one is free.
 * Turns go round the keys that wait; within a key, the urgent come first, and turns go round the groups. A key that has nothing,
 * and whose turn it is, is let past by the others when it needs more than is free: smaller ones would always find room before it.
 *
 * The rule is the dynamic threshold of Choudhury and Hahne for shared memory in switches (IEEE/ACM Transactions on
 * Networking 6(2), 1998), with α = 1.
 */
export function createFairSemaphore({ total, perKey = total }: FairSemaphoreOptions): FairSemaphore {
  let free = total;
  const used = new Map<string, number>();
  /** In the order of their next turn. */
  const queues = new Map<string, Waiters>();
  /** Whether the next turn is that of a key which has nothing and needs more than is free. */
  let isLetPast = false;

  const inUse = (key: string) => used.get(key) ?? 0;
  /** One key alone is admitted with as much as this. */
  const largest = Math.min(perKey, total);
  const isAdmitted = (key: string, amount: number) => inUse(key) + amount <= Math.min(perKey, free);

  function take(key: string, amount: number): Release {
    free -= amount;
    used.set(key, inUse(key) + amount);
    let held = amount;
    return (kept = 0) => {
      const returned = held - Math.min(kept, held);
      if (returned === 0) return;
      held -= returned;
      free += returned;
      const left = inUse(key) - returned;
      if (left === 0) used.delete(key);
      else used.set(key, left);
      admitWaiting();
    };
  }

  function admitWaiting(): void {
    isLetPast = false;
    // A key that is put back at the end is come to again: this goes round until nobody can be admitted.
    for (const [key, queue] of queues) {
      if (free === 0) return;
      const line = queue.urgent.size > 0 ? queue.urgent : queue.usual;
      const first = line.peek();
      if (first === undefined) continue;
      if (!isAdmitted(key, first.amount)) {
        isLetPast = inUse(key) === 0;
        if (isLetPast) return;
        continue;
      }
      line.shift();
      queues.delete(key);
      if (countOf(queue) > 0) queues.set(key, queue);
      first.admit(take(key, first.amount));
    }
  }

  /** @returns a function that ends the wait */
  function enqueue(key: string, waiter: Waiter, { urgent = false, group = '' }: AcquireOptions): () => void {
    const queue = queues.get(key) ?? { urgent: new RoundRobin(), usual: new RoundRobin() };
    queues.set(key, queue);
    const line = urgent ? queue.urgent : queue.usual;
    line.push(group, waiter);
    if (inUse(key) === 0) admitWaiting();
    return () => {
      line.delete(group, waiter);
      if (countOf(queue) === 0 && queues.get(key) === queue) queues.delete(key);
      admitWaiting();
    };
  }

  function tryAcquire(key: string, amount = 1): Release | undefined {
    const taken = Math.min(amount, largest);
    if (queues.has(key) || isLetPast || !isAdmitted(key, taken)) return undefined;
    return take(key, taken);
  }

  function acquire(key: string, options: AcquireOptions = {}): Promise<Release> {
    const { signal, amount = 1 } = options;
    signal?.throwIfAborted();
    const release = tryAcquire(key, amount);
    if (release !== undefined) return Promise.resolve(release);
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        leave();
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        amount: Math.min(amount, largest),
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
