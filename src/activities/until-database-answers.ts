import { setTimeout as delay } from 'node:timers/promises';
import { isPassingDatabaseError } from '../db/errors.ts';

const AGAIN_MS = 500;

/**
 * Runs a statement again and again while the database is unreachable, or rolls it back for another's sake, so that an outage costs no attempt and loses no
 * answer that was paid for. Send heartbeats meanwhile.
 * @param giveUp ends the trying; without it there is no end before the database answers
 * @throws the signal's reason, or what the database answered
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
