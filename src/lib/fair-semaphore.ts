/** A queue whose groups take turns; within a group it is first in, first out. */
class RoundRobin<T> {
  /** Ordered by next turn. None is empty. */
  readonly #groups = new Map<string, Set<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(group: string, item: T): void {
    const items = this.#groups.get(group) ?? new Set();
    this.#groups.set(group, items.add(item));
    this.#size += 1;
  }

  /** The next item. */
  peek(): T | undefined {
    for (const [, items] of this.#groups) for (const item of items) return item;
    return undefined;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    for (const [group, items] of this.#groups) {
      this.#groups.delete(group);
      for (const item of items) {
        items.delete(item);
        this.#size -= 1;
        if (items.size > 0) this.#groups.set(group, items);
        return item;
      }
    }
    return undefined;
  }

  /** Removes an item before its turn. */
  delete(group: string, item: T): void {
    const items = this.#groups.get(group);
    if (!items?.delete(item)) return;
    this.#size -= 1;
    if (items.size === 0) this.#groups.delete(group);
  }
}

/** Releases what was acquired, except for the first `kept` slots (default: none). Releasing again has no effect. */
export type Release = (kept?: number) => void;

export interface AcquireOptions {
  /** Slots to acquire, capped at the maximum for one key. Default: 1. */
  amount?: number | undefined;
  /** Ends the wait; its reason is thrown. */
  signal?: AbortSignal | undefined;
  /** Goes ahead of non-urgent waiters of the same key. */
  urgent?: boolean | undefined;
  /** Within a key, groups take turns. Default: one common group. */
  group?: string | undefined;
}

/**
 * A counting semaphore whose slots (or bytes) are shared by keys (workspaces), so that none of them can take all.
 */
export interface FairSemaphore {
  /**
   * Waits for a slot.
   * @throws the reason of `signal`
   */
  acquire(key: string, options?: AcquireOptions): Promise<Release>;
  /** A slot if one is free for this key and none of its requests is waiting; otherwise undefined. */
  tryAcquire(key: string, amount?: number): Release | undefined;
  /** Runs `work` while holding a slot. */
  run<T>(key: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T>;
  /** Slots held by a key. */
  inUse(key: string): number;
  /** Number of waiters of a key. */
  waiting(key: string): number;
}

export interface FairSemaphoreOptions {
  /** Total number of slots. */
  total: number;
  /** Maximum number of slots for one key. Default: `total`. */
  perKey?: number;
}

interface Waiter {
  amount: number;
  admit(release: Release): void;
}

/** The waiters of one key. */
interface Waiters {
  urgent: RoundRobin<Waiter>;
  usual: RoundRobin<Waiter>;
}

const countOf = ({ urgent, usual }: Waiters) => urgent.size + usual.size;

/**
 * Admits a key while it has at most `perKey` slots, and at most as many as are free. So the more a key has, the more must be left for
 * others: a single key gets at most half of a small semaphore, and a newcomer finds a slot as long as one is free. Waiting keys take
 * turns; within a key, urgent waiters come first, and groups take turns. If the next key has no slots and needs more than are free,
 * the others let it go first: otherwise smaller requests would always overtake it.
 *
 * The rule is the dynamic threshold of Choudhury and Hahne for shared memory in switches (IEEE/ACM Transactions on Networking 6(2),
 * 1998), with α = 1.
 */
export function createFairSemaphore({ total, perKey = total }: FairSemaphoreOptions): FairSemaphore {
  let free = total;
  const used = new Map<string, number>();
  /** Ordered by next turn. */
  const queues = new Map<string, Waiters>();
  /** Whether the next key has no slots and needs more than are free. */
  let isLetPast = false;

  const inUse = (key: string) => used.get(key) ?? 0;
  /** The most that a single key can acquire. */
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
    // A key moved to the end is visited again: this loops until no one can be admitted.
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
    // `async`, so that invalid arguments reject, too.
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
