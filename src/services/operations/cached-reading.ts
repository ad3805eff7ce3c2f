import { SingleFlight } from '../../lib/single-flight.ts';
import { withDeadline } from '../../outbound/deadline.ts';

/** Prometheus allows 10 s for a scrape by default; the other metrics should not wait for these. */
export const READ_TIMEOUT_MS = 2_000;
/** Several gauges of a scrape, and several scrapes of a busy operator, share a reading. */
const KEPT_MS = 5_000;
/** A reading is cached for this many times its duration, so that metrics use at most a tenth of one connection. */
const KEPT_TIMES = 10;
const KEPT_AT_MOST_MS = 30_000;
/** For a ping, which is cheap to wait for: it shows an outage, and its end. */
export const PING_KEPT_AT_MOST_MS = 5_000;

export interface CachedReadingOptions<T> {
  /** The value if it can't be read in time. */
  unknown: T;
  /** The minimum time for which a reading is cached, in milliseconds. Default: 5 s. */
  retentionMs?: number;
  /** The maximum time for which it is cached, however long it took. Default: 30 s. */
  keptAtMostMs?: number;
  /** Default: 2 s. */
  timeoutMs?: number;
}

/**
 * Reads the values of gauges: once for all of them, never concurrently, and less often if reading takes long.
 * @param read reads the values; continues in the background if it exceeds the time limit
 * @returns the reading; `unknown` if that failed or took too long. Never rejects
 */
export function cachedReading<T>(
  read: () => Promise<T>,
  {
    unknown,
    retentionMs = KEPT_MS,
    keptAtMostMs = KEPT_AT_MOST_MS,
    timeoutMs = READ_TIMEOUT_MS,
  }: CachedReadingOptions<T>,
): () => Promise<T> {
  const reading = new SingleFlight<T>();
  let kept: { value: T; until: number } | undefined;

  async function readNow(): Promise<T> {
    const startedAt = performance.now();
    let value = unknown;
    try {
      value = await read();
    } catch {
      // `unknown` is cached like a reading, so that a failing source is not read repeatedly.
    }
    const now = performance.now();
    const slowMs = Math.min(KEPT_TIMES * (now - startedAt), keptAtMostMs);
    kept = { value, until: now + Math.max(retentionMs, slowMs) };
    return value;
  }

  return async () => {
    if (kept !== undefined && performance.now() < kept.until) return kept.value;
    return withDeadline(timeoutMs, undefined, () => reading.run('', readNow)).catch(() => unknown);
  };
}
