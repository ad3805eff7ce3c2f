import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** From this size, one step of work on a text, such as parsing it, can take many milliseconds. */
const LARGE = 64 * 1024;

/**
 * Yields to everything else that is waiting, between two steps of work that can each take a while.
 * @param size of the text in bytes or characters: small ones do not yield
 * @returns whether it yielded
 */
export async function afterOthers(size: number): Promise<boolean> {
  if (size <= LARGE) return false;
  await nextTurn();
  return true;
}

/** How long many small steps of work take before other work gets a turn. */
const PACE_MS = 10;

/** @returns a function to call between many small steps of work: it yields to everything else that is waiting every 10 ms */
export function createPace(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < PACE_MS) return;
    await nextTurn();
    since = performance.now();
  };
}
