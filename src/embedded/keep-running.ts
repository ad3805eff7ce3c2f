import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** A server on this machine that may end unexpectedly. */
interface Server {
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

const RESTART_AFTER_MS = 1_000;

/**
 * Starts a server and restarts it on the same port if it ends unexpectedly, until `stop`. In the meantime, dependents wait,
 * or respond that they are temporarily unavailable.
 * @returns the first start, whose address stays the same
 */
export async function keepRunning<T extends Server>(
  name: string,
  start: () => Promise<T>,
  log: Logger,
): Promise<{ first: T; stop(): Promise<void> }> {
  const first = await start();
  const stopping = new AbortController();
  let current: T = first;

  async function restartUntilUp(): Promise<T | undefined> {
    for (;;) {
      await delay(RESTART_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return undefined;
      try {
        return await start();
      } catch (error) {
        log.error({ err: error }, `${name} could not be started again yet`);
      }
    }
  }

  const watching = (async () => {
    for (;;) {
      await current.exited;
      if (stopping.signal.aborted) return;
      log.error(`${name} exited; restarting it`);
      const next = await restartUntilUp();
      if (next === undefined) return;
      current = next;
      // If the stop came during the start, `stop` ends the new server.
      if (stopping.signal.aborted) return;
      log.info(`${name} is running again`);
    }
  })();

  return {
    first,
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
      await current.stop();
    },
  };
}
