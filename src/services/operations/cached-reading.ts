import { SingleFlight } from '../../lib/single-flight.ts';
import { withDeadline } from '../../outbound/deadline.ts';

/** Prometheus gives a scrape 10 s by default; the other metrics should not wait for these. */
export const READ_TIMEOUT_MS = 2_000;
/** Several gauges of a scrape, and several scrapes of a busy operator, share a reading. */
const KEPT_MS = 5_000;
/** A reading is kept so many times as long as it took, so that metrics take a tenth of one connection. */
const KEPT_TIMES = 10;
const KEPT_AT_MOST_MS = 30_000;
/** Of a ping, which costs nothing to wait for: by it an outage is seen, and its end. */
export const PING_KEPT_AT_MOST_MS = 5_000;

export interface CachedReadingOptions<T> {
  /** What there is where it can't be read in time. */
  unknown: T;
  /** How long a reading is kept at least, in milliseconds. Default: 5 s. */
  retentionMs?: number;
  /** How long it is kept at most, however long it took. Default: 30 s. */
  keptAtMostMs?: number;
  /** Default: 2 s. */
  timeoutMs?: number;
}

/**
 * Reads what gauges show: once for all of them, never more than once at a time, and seldom where it takes long.
 * @param read what is to be read; it goes on in the background where it takes longer than the time limit
 * @returns the reading; `unknown` where that failed or took too long. Never rejects
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
      // Unknown, for as long as a reading is kept: what fails should not be asked again and again either.
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
