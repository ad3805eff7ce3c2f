import { ApplicationFailure } from '@temporalio/activity';
import { MAX_CALL_ATTEMPTS } from '../domain/limits.ts';
import { ModelError, type ModelErrorCode } from '../models/model-error.ts';
import type { ClaimedCall } from '../services/executions/claim-execution.ts';

/** Calls in flight in this process, by execution. */
export interface CallsInFlight {
  has(executionId: string): boolean;
  /** Makes a call, or waits for the one in flight: a step that Temporal has run again does not pay twice. */
  join(executionId: string, call: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Gives up the call of an execution that has ended. */
  giveUp: (executionId: string) => void;
  /** Gives up every call. */
  giveUpAll(reason: unknown): void;
  ids(): string[];
}

/** Why a call was given up: it was canceled, and its row says so. */
export class ExecutionEndedError extends Error {
  override readonly name = 'ExecutionEndedError';
}

export function createCallsInFlight(): CallsInFlight {
  const calls = new Map<string, { ended: Promise<void>; giveUp: AbortController }>();

  function start(id: string, call: (signal: AbortSignal) => Promise<void>) {
    const giveUp = new AbortController();
    const started = { giveUp, ended: call(giveUp.signal).finally(() => calls.delete(id)) };
    calls.set(id, started);
    return started;
  }

  return {
    has: (id) => calls.has(id),
    join: (id, call) => (calls.get(id) ?? start(id, call)).ended,
    giveUp: (id) => calls.get(id)?.giveUp.abort(new ExecutionEndedError('The execution has ended.')),
    giveUpAll(reason) {
      for (const { giveUp } of calls.values()) giveUp.abort(reason);
    },
    ids: () => [...calls.keys()],
  };
}

const FIRST_WAIT_MS = 1_000;
/** Longer waits than this are not retried: the quota at the provider is used up. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

/** How long to wait before the next call, as the details of a failure. */
export interface RetryWait {
  retryInMs: number;
}

/**
 * The failure of a call as Temporal gets it: the model's code as type, the provider's `Retry-After` as the next wait, and
 * whether to retry.
 */
export function toFailure(
  error: unknown,
  { attempt, isLastAttempt: isLast }: Pick<ClaimedCall, 'attempt' | 'isLastAttempt'>,
): unknown {
  if (!(error instanceof ModelError)) return isLast ? exhausted(error) : error;
  const retryInMs = error.retryAfterMs ?? FIRST_WAIT_MS * 2 ** (attempt - 1);
  const nonRetryable = !error.retryable || isLast || retryInMs > LONGEST_WAIT_MS;
  return ApplicationFailure.create({
    type: error.code,
    message: error.message,
    nonRetryable,
    ...(!nonRetryable && { details: [{ retryInMs } satisfies RetryWait] }),
  });
}

/** The execution has no attempt left, and no response. */
export function exhausted(error?: unknown): ApplicationFailure {
  return nonRetryableFailure(`The model was called ${MAX_CALL_ATTEMPTS} times without a response.`, error);
}

/** The database refuses to store the response, which has been paid for: non-retryable. */
export function unstorable(error: unknown): ApplicationFailure {
  return nonRetryableFailure("The model's response could not be stored.", error);
}

function nonRetryableFailure(message: string, error: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'model_unavailable' satisfies ModelErrorCode,
    message,
    nonRetryable: true,
    ...(error instanceof Error && { cause: error }),
  });
}
