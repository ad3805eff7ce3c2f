import { setTimeout as delay } from 'node:timers/promises';
import { take } from './lists.ts';

const POLL_MS = 1_000;
/** A round that takes long is followed by a pause that is longer in proportion, so that the service is not kept busy by it. */
const PAUSE_FACTOR = 4;
/** How long after its time an entry can appear: the transaction that made it commits later than it began. */
const LATE_MS = 60_000;

/** A list that grows. */
export interface Growing<Item> {
  /** Entries made at or after a time, newest first. */
  read: (since: string | undefined) => AsyncIterable<Item>;
  idOf: (item: Item) => string;
  /** When it was made, by the service's clock: ISO 8601. */
  timeOf: (item: Item) => string;
  /** Whether it is to be given now; one that is not is looked at again. */
  isReady: (item: Item) => boolean;
  /** How long one that was made before the start may have been waited for. */
  lookbackMs: number;
}

/** The first look's beginning; undefined where there is nothing yet. */
async function startOf<Item>({ read, timeOf, lookbackMs }: Growing<Item>): Promise<number | undefined> {
  const [newest] = await take(read(undefined), 1);
  return newest === undefined ? undefined : Date.parse(timeOf(newest)) - Math.max(lookbackMs, LATE_MS);
}

const isoTime = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

/**
 * Gives what a list gets from now on, the oldest first: each entry once, whatever order they become visible in. Times are those of the service,
 * so that the clock of this machine does not matter.
 * @param from also what was made since then, in milliseconds
 * @param onStart called when it is known what was there before: what comes after that is given
 */
export async function* follow<Item>(
  list: Growing<Item>,
  from?: number,
  onStart: () => void = () => {},
): AsyncGenerator<Item, void, undefined> {
  const { read, idOf, timeOf, isReady } = list;
  const madeAt = (item: Item) => Date.parse(timeOf(item));
  const seen = new Map<string, number>();
  let since = from ?? (await startOf(list));
  let isFirst = true;
  for (;;) {
    const began = Date.now();
    const items = (await Array.fromAsync(read(isoTime(since)))).reverse();
    const ready = items.filter((item) => isReady(item) && !seen.has(idOf(item)));
    for (const item of ready) seen.set(idOf(item), madeAt(item));
    if (isFirst) onStart();
    if (!isFirst || from !== undefined) yield* ready;
    isFirst = false;
    const newest = items.at(-1);
    if (newest !== undefined) {
      const open = items.filter((item) => !isReady(item)).map(madeAt);
      since = Math.max(since ?? 0, Math.min(madeAt(newest) - LATE_MS, ...open));
      for (const [id, time] of seen) if (time < since) seen.delete(id);
    }
    await delay(Math.max(POLL_MS, PAUSE_FACTOR * (Date.now() - began)));
  }
}
