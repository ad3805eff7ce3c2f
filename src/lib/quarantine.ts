import type { Release } from './fair-semaphore.ts';
import type { Place } from './waiting-room.ts';

/**
 * Lets work run again that was in flight when processes ended, since it may have been the cause. After two such ends little of it begins at a
 * time: one at first, and one more for each that has gone well; after three, one runs alone, and a process that ends then
 * was ended by it.
 */
export interface Quarantine {
  /** @param deaths processes that ended while it ran */
  place(deaths: number): Place;
}

/** With fewer, it is restricted in nothing: a process that is killed holds nobody up. */
export const DEATHS_UNTIL_QUARANTINE = 2;
export const DEATHS_UNTIL_ALONE = 3;
/** What has run for so long without harm makes room for the next, unless it runs alone: it may wait for a slow model. */
const HARMLESS_AFTER_MS = 5_000;

interface Waiter {
  isAlone: boolean;
  admit(release: Release): void;
}

const FREE: Place = { tryAcquire: () => () => {}, acquire: async () => () => {} };

export function createQuarantine(harmlessAfterMs = HARMLESS_AFTER_MS): Quarantine {
  const waiting = new Set<Waiter>();
  let width = 1;
  let running = 0;
  let isOneAlone = false;

  const isAdmitted = (isAlone: boolean) => !isOneAlone && running < (isAlone ? 1 : width);

  function take(isAlone: boolean): Release {
    running += 1;
    isOneAlone = isAlone;
    let isReleased = false;
    const release = () => {
      clearTimeout(harmless);
      if (isReleased) return;
      isReleased = true;
      running -= 1;
      width += 1;
      isOneAlone = false;
      admitWaiting();
    };
    const harmless = isAlone ? undefined : setTimeout(release, harmlessAfterMs).unref();
    return release;
  }

  /** In the order in which they came: whoever runs alone is not overtaken. */
  function admitWaiting(): void {
    for (const waiter of waiting) {
      if (!isAdmitted(waiter.isAlone)) return;
      waiting.delete(waiter);
      waiter.admit(take(waiter.isAlone));
    }
  }

  return {
    place(deaths) {
      if (deaths < DEATHS_UNTIL_QUARANTINE) return FREE;
      const isAlone = deaths >= DEATHS_UNTIL_ALONE;
      const tryAcquire = () => (waiting.size === 0 && isAdmitted(isAlone) ? take(isAlone) : undefined);
      return {
        tryAcquire,
        acquire(signal) {
          if (signal.aborted) return Promise.reject(signal.reason);
          const release = tryAcquire();
          if (release !== undefined) return Promise.resolve(release);
          const { promise, resolve, reject } = Promise.withResolvers<Release>();
          const onAbort = () => {
            waiting.delete(waiter);
            reject(signal.reason);
            admitWaiting();
          };
          const waiter: Waiter = {
            isAlone,
            admit(admitted) {
              signal.removeEventListener('abort', onAbort);
              resolve(admitted);
            },
          };
          waiting.add(waiter);
          signal.addEventListener('abort', onAbort, { once: true });
          return promise;
        },
      };
    },
  };
}
