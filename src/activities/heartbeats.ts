import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 1_000;

/**
 * Sends heartbeats for as long as the work of an activity takes; its signal says when to give up.
 * @param details what each of them tells operators
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
