import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { ACCEPT_WITHIN_MS } from '../../domain/limits.ts';

const AGAIN_MS = 500;

/** What was stored for a caller who is told that it failed. */
export interface Withdrawal {
  /** Its field in the log, such as `execution_id`. */
  field: string;
  id: string;
  /** Makes sure that it does not run. Safe to repeat. */
  withdraw: () => Promise<unknown>;
}

/**
 * For how long the withdrawal of a run is waited for, in milliseconds. Where the database is away, nobody can begin the run any
 * more after `ACCEPT_WITHIN_MS`, so no caller waits for longer than that.
 * @param beganAt when its creation began, as `performance.now()` gives it; undefined where no start was tried: nobody can
 * begin it
 */
export function holdMsOf(beganAt: number | undefined): number {
  return beganAt === undefined ? 0 : beganAt + ACCEPT_WITHIN_MS - performance.now();
}

/**
 * Withdraws at once, or as soon as the database is back.
 * @param holdMs how long to wait for that; after it, it goes on in the background
 */
export async function withdrawOrGoOn(log: Logger, { field, id, withdraw }: Withdrawal, holdMs: number): Promise<void> {
  let warned = false;
  async function untilWithdrawn(): Promise<void> {
    for (;;) {
      try {
        await withdraw();
        return;
      } catch (error) {
        if (!isDatabaseUnavailable(error)) {
          log.error({ err: error, [field]: id }, 'cannot withdraw');
          return;
        }
        if (!warned) log.warn({ err: error, [field]: id }, 'cannot withdraw yet; going on trying');
        warned = true;
      }
      await delay(AGAIN_MS, undefined, { ref: false });
    }
  }
  await Promise.race([untilWithdrawn(), delay(Math.max(0, holdMs), undefined, { ref: false })]);
}

/**
 * What was stored for a caller, unless it was withdrawn meanwhile: its workflow could not be started, or not in time.
 * @throws ApiError `temporarily_unavailable` instead of `not_found`
 */
export async function unlessWithdrawn<T>(found: Promise<T>): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
    throw temporarilyUnavailable('It could not be started.');
  }
}
