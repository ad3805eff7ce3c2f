import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '../db/errors.ts';

const AGAIN_MS = 500;

/**
 * Runs a statement again and again while the database is unreachable. The activity's heartbeats go on meanwhile, so an
 * outage costs no attempt and loses no answer that was paid for.
 */
export async function untilDatabaseAnswers<T>(statement: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      await delay(AGAIN_MS);
    }
  }
}
