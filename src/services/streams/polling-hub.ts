import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { ApiError } from '../../domain/errors.ts';
import { createOpenReaders, type OpenReaders, type Source } from './open-readers.ts';

const POLL_INTERVAL_MS = 1_000;

export interface PollingHubDeps {
  log: Logger;
  /** Default: 1 s. */
  pollIntervalMs?: number;
  /** Default: 60 s. */
  stalledMs?: number;
}

/**
 * One poll of the database per second serves all readers of the process. Polls run one at a time; after an error the next one tries again.
 * @param hub.keepAlive sent so that no connection is considered dead
 * @param hub.what its purpose, for the log
 */
export function createPollingHub<Entry, S extends Source<Entry>>(
  { log, pollIntervalMs: everyMs = POLL_INTERVAL_MS, stalledMs }: PollingHubDeps,
  hub: { what: string; keepAlive: string; look: (sources: readonly S[]) => Promise<void> },
): OpenReaders<Entry, S> & { warn: (error: unknown) => void } {
  const comment = Buffer.from(hub.keepAlive);
  let isPolling = false;

  function warn(error: unknown): void {
    // It was deleted, and the streams of its readers have ended.
    if (error instanceof ApiError) return;
    log[isDatabaseUnavailable(error) ? 'warn' : 'error']({ err: error }, `cannot ${hub.what}; trying again`);
  }

  function onTick(isQuiet: boolean, sources: Iterable<S>): void {
    const all = [...sources];
    if (isQuiet)
      for (const { readers } of all) for (const reader of readers.keys()) if (reader.isReady) reader.send(comment);
    if (isPolling) return;
    isPolling = true;
    void hub
      .look(all)
      .catch(warn)
      .finally(() => {
        isPolling = false;
      });
  }

  return Object.assign(createOpenReaders<Entry, S>({ everyMs, stalledMs, onTick }), { warn });
}
