import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 1_000;

/** Sends heartbeats for as long as the work of an activity takes; its signal says when to give up. */
export async function withHeartbeats<T>(work: (giveUp: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work(context.cancellationSignal);
  } finally {
    clearInterval(heartbeat);
  }
}
