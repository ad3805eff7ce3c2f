import { setTimeout as delay } from 'node:timers/promises';
import { take } from './lists.ts';

const POLL_MS = 1_000;
/** The pause after a slow round is proportionally longer, so that polling does not keep the service busy. */
const PAUSE_FACTOR = 4;
/** How late an entry can appear: its transaction commits after its timestamp. */
const LATE_MS = 60_000;

/** A growing list. */
export interface Growing<Item> {
  /** Entries created at or after a time, newest first. */
  read: (since: string | undefined) => AsyncIterable<Item>;
  idOf: (item: Item) => string;
  /** When it was created, by the service's clock: ISO 8601. */
  timeOf: (item: Item) => string;
  /** Whether to yield it now; otherwise it is checked again later. */
  isReady: (item: Item) => boolean;
  /** How long an entry created before the start may have been pending. */
  lookbackMs: number;
  /** How long after its time an entry can appear. Default: a minute */
  lateMs?: number;
}

/** The start time of the first poll; undefined if there are no entries yet. */
async function startOf<Item>({
  read,
  timeOf,
  lookbackMs,
  lateMs = LATE_MS,
}: Growing<Item>): Promise<number | undefined> {
  const [newest] = await take(read(undefined), 1);
  return newest === undefined ? undefined : Date.parse(timeOf(newest)) - Math.max(lookbackMs, lateMs);
}

const isoTime = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());

/**
 * Yields new entries of a list, oldest first, each once, in whatever order they become visible. Times are those of the service, so the
 * clock of this machine does not matter.
 * @param from also yields entries created since then, in milliseconds
 * @param onStart called when the existing entries are known: later ones are yielded
 */
export async function* follow<Item>(
  list: Growing<Item>,
  from?: number,
  onStart: () => void = () => {},
): AsyncGenerator<Item, void, undefined> {
  const { read, idOf, timeOf, isReady, lateMs = LATE_MS } = list;
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
      since = Math.max(since ?? 0, Math.min(madeAt(newest) - lateMs, ...open));
      for (const [id, time] of seen) if (time < since) seen.delete(id);
    }
    await delay(Math.max(POLL_MS, PAUSE_FACTOR * (Date.now() - began)));
  }
}
