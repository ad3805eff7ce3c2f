import { ApplicationFailure, Context } from '@temporalio/activity';
import { ModelError } from '../models/model-error.ts';
import { withHeartbeats } from './heartbeats.ts';

/** Calls of this process that have not ended, by what they are for. */
export type CallsUnderWay = Map<string, { ended: Promise<void>; giveUp: AbortController }>;

/** Attempts per call, those of workers that died included. */
const MAX_ATTEMPTS = 5;
/** A provider that asks for a longer wait than this has no quota left for us. */
const MAX_RETRY_AFTER_MS = 60 * 60 * 1000;

/**
 * Runs a call inside an activity, with heartbeats. The call is given up only when its workflow was canceled or the worker
 * stops; where Temporal merely lost sight of the activity, it goes on to its end, and the activity's next attempt in this
 * process waits for it instead of paying again.
 */
export async function callOnce(
  underWay: CallsUnderWay,
  id: string,
  call: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const running = underWay.get(id) ?? startCall(underWay, id, call);
  const context = Context.current();
  // Each attempt listens for itself: one that Temporal lost sight of is told of no cancellation any more.
  context.cancelled.catch((reason: unknown) => {
    const details = context.cancellationDetails;
    if (details?.cancelRequested || details?.workerShutdown) running.giveUp.abort(reason);
  });
  await withHeartbeats(() => running.ended);
}

function startCall(underWay: CallsUnderWay, id: string, call: (signal: AbortSignal) => Promise<void>) {
  const giveUp = new AbortController();
  const running = { giveUp, ended: call(giveUp.signal).finally(() => underWay.delete(id)) };
  underWay.set(id, running);
  return running;
}

/**
 * Turns a model's error into what Temporal retries or not: its code as type, the provider's `Retry-After` as the next wait.
 * @throws always
 */
export function throwForTemporal(error: unknown): never {
  if (!(error instanceof ModelError)) throw error;
  const { attempt } = Context.current().info;
  const hopeless = !error.retryable || attempt >= MAX_ATTEMPTS || (error.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS;
  throw ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable: hopeless,
    ...(error.retryAfterMs === undefined ? {} : { nextRetryDelay: error.retryAfterMs }),
  });
}
