import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Does some work again and again until it is stopped, which aborts the signal of `work`. A failure is logged, and the work is done again at the next interval. */
export function runEvery(
  name: string,
  intervalMs: number,
  log: Logger,
  work: (stopping: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      try {
        await work(stopping.signal);
      } catch (error) {
        log.warn({ err: error, task: name }, 'a recurring task failed; it will be tried again');
      }
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
