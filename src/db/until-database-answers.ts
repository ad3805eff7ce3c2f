import { setTimeout as delay } from 'node:timers/promises';
import { isPassingDatabaseError } from './errors.ts';

const AGAIN_MS = 500;

/**
 * Repeats a statement while the database is unreachable or rolls it back in favor of another, so that an outage costs no attempt
 * and loses no response that was paid for. Send heartbeats in the meantime.
 * @param giveUp ends the retries; without it they end only when the database responds
 * @throws the signal's reason, or the database's error
 */
export async function untilDatabaseAnswers<T>(
  statement: () => Promise<T>,
  giveUp?: Pick<AbortSignal, 'throwIfAborted'>,
): Promise<T> {
  for (;;) {
    try {
      return await statement();
    } catch (error) {
      if (!isPassingDatabaseError(error)) throw error;
      giveUp?.throwIfAborted();
      await delay(AGAIN_MS);
    }
  }
}
