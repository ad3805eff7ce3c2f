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
const PACE_MS = 5;

/** @returns a function to call between many small steps of work: it yields to everything else that is waiting every 5 ms */
export function createPace(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < PACE_MS) return;
    await nextTurn();
    since = performance.now();
  };
}

/** Maps items in small steps, between which everything else that is waiting gets its turn. */
export async function mapPaced<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const pace = createPace();
  for (const item of items) {
    results.push(await map(item, results.length));
    await pace();
  }
  return results;
}
