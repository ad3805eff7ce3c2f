import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long tests wait for a condition, in milliseconds, before they fail. Only the service should make a test fail, so this is
 * far longer than a busy machine takes; `testTimeout` in jest.config.js is longer still.
 */
export const PATIENCE_MS = 180_000;

const LEAST_PAUSE_MS = 25;
const MOST_PAUSE_MS = 200;

/**
 * Polls until `look` returns something truthy: every 25 ms at first, then at most once per tenth of the elapsed time, because polling
 * takes CPU time from the awaited work. @throws Error with `what` after `timeoutMs`
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T>,
  timeoutMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const begun = performance.now();
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    const waited = performance.now() - begun;
    if (waited > timeoutMs) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await delay(Math.min(Math.max(waited / 10, LEAST_PAUSE_MS), MOST_PAUSE_MS));
  }
}

/**
 * The same for conditions that can fail temporarily, such as a request during an outage: errors count as "not yet".
 * @throws the last error of `look`, or an error that names `what`, after `timeoutMs`
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  let error: unknown;
  const attempt = async () => {
    try {
      const value = await look();
      error = undefined;
      return value === undefined || value === false ? undefined : { value };
    } catch (thrown) {
      error = thrown;
      return undefined;
    }
  };
  const { value } = await waitFor(what, attempt, timeoutMs).catch((inVain: unknown) => {
    throw error ?? inVain;
  });
  return value;
}
