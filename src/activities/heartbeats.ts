import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 1_000;

/**
 * Sends heartbeats while an activity works; its signal aborts when it must give up.
 * @param details content of each heartbeat for operators
 */
export async function withHeartbeats<T>(work: (giveUp: AbortSignal) => Promise<T>, details?: unknown): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(details), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(heartbeat);
  }
}
