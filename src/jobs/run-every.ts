import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * Repeats some work until it is stopped, which aborts the signal of `work`. A failure is logged, and the work is repeated at the
 * next interval.
 * @param options.atOnce whether to start with the work, not with an interval. Default: false
 */
export function runEvery(
  name: string,
  intervalMs: number,
  log: Logger,
  work: (stopping: AbortSignal) => Promise<void>,
  { atOnce = false } = {},
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const running = (async () => {
    for (let isFirst = true; ; isFirst = false) {
      if (!(isFirst && atOnce)) await delay(intervalMs, undefined, { signal: stopping.signal }).catch(() => {});
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
