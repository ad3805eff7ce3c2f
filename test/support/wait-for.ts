import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long tests wait for a condition, in milliseconds, before they call it a failure. A test may only fail because of
 * what the service does, so this is far beyond what a busy machine takes; `testTimeout` in jest.config.js is longer still.
 */
export const PATIENCE_MS = 180_000;

/** Looks again and again until there is something truthy. @throws Error with `what` after `timeoutMs` */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T>,
  timeoutMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const latest = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > latest) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.`);
    await delay(25);
  }
}

/**
 * The same for what may fail meanwhile, as a request during an outage: errors count as "not yet".
 * @throws the last error of `look`, or one that names `what`, after `timeoutMs`
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
