import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** A server of this machine that can end by itself. */
interface Server {
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

const RESTART_AFTER_MS = 1_000;

/**
 * Starts a server and, should it end by itself, starts it again on its old port, until `stop`.
 * Whatever needs it meanwhile waits, or responds that it is temporarily unavailable.
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
      // Asked to stop during the start: `stop` ends what has come up.
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
