import { ApplicationFailure, Context } from '@temporalio/activity';
import { MAX_CALL_ATTEMPTS } from '../domain/limits.ts';
import { ModelError, type ModelErrorCode } from '../models/model-error.ts';
import { withHeartbeats } from './heartbeats.ts';

/** Calls of this process that have not ended, by what they are for. */
export type CallsUnderWay = Map<string, { ended: Promise<void>; giveUp: AbortController }>;

/** A provider that asks for a longer wait than this has no quota left for us. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

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
 * What Temporal is told of a call that failed: the model's code as type, the provider's `Retry-After` as the next wait, and
 * whether to try again.
 * @param isLast whether the execution has no attempt left
 */
export function toFailure(error: unknown, isLast: boolean): unknown {
  if (!(error instanceof ModelError)) return isLast ? exhausted(error) : error;
  const { retryAfterMs = 0 } = error;
  const nonRetryable = !error.retryable || isLast || retryAfterMs > LONGEST_WAIT_MS;
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable,
    ...(!nonRetryable && retryAfterMs > 0 && { nextRetryDelay: retryAfterMs }),
  });
}

/** The execution was tried as often as may be, and has no answer. */
export function exhausted(error?: unknown): ApplicationFailure {
  return failedForGood(`The run was tried ${MAX_CALL_ATTEMPTS} times and has no answer.`, error);
}

/** The database refuses the answer, which has been paid for, for good. */
export function unstorable(error: unknown): ApplicationFailure {
  return failedForGood("The model's answer could not be stored.", error);
}

function failedForGood(message: string, error: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'model_unavailable' satisfies ModelErrorCode,
    message,
    nonRetryable: true,
    ...(error instanceof Error && { cause: error }),
  });
}
