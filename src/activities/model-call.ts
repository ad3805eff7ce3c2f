import { ApplicationFailure } from '@temporalio/activity';
import { MAX_CALL_ATTEMPTS } from '../domain/limits.ts';
import { ModelError, type ModelErrorCode } from '../models/model-error.ts';
import type { ExecutionError } from '../services/executions/run/calls.ts';
import type { ClaimedCall } from '../services/executions/run/claim-execution.ts';

/** The calls in flight in this process, by execution. */
export interface CallsInFlight<Outcome> {
  has(executionId: string): boolean;
  /** Makes a call, or joins the one in flight, so that a repeated step does not pay twice. */
  join(executionId: string, call: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome>;
  /** Aborts the call of an execution that has ended. */
  giveUp: (executionId: string) => void;
  /** Aborts every call. */
  giveUpAll(reason: unknown): void;
  ids(): string[];
}

/** The execution was canceled, as its row says, so its call was aborted. */
export class ExecutionEndedError extends Error {
  override readonly name = 'ExecutionEndedError';
}

/** Created once: most calls are aborted right after they ended. */
const EXECUTION_ENDED = new ExecutionEndedError('The execution has ended.');

export function createCallsInFlight<Outcome>(): CallsInFlight<Outcome> {
  const calls = new Map<string, { ended: Promise<Outcome>; giveUp: AbortController }>();

  function start(id: string, call: (signal: AbortSignal) => Promise<Outcome>) {
    const giveUp = new AbortController();
    const started = { giveUp, ended: call(giveUp.signal).finally(() => calls.delete(id)) };
    calls.set(id, started);
    return started;
  }

  return {
    has: (id) => calls.has(id),
    join: (id, call) => (calls.get(id) ?? start(id, call)).ended,
    giveUp: (id) => calls.get(id)?.giveUp.abort(EXECUTION_ENDED),
    giveUpAll(reason) {
      for (const { giveUp } of calls.values()) giveUp.abort(reason);
    },
    ids: () => [...calls.keys()],
  };
}

const FIRST_WAIT_MS = 1_000;
/** Longer waits than this are not retried: the quota at the provider is used up. */
const LONGEST_WAIT_MS = 60 * 60 * 1000;

/** The time until the next call, as the details of a failure. */
export interface RetryWait {
  retryInMs: number;
}

/** A failed call: the error for the caller, and what happens next. */
export interface CallFailure extends ExecutionError {
  /** The time until this model is called again; undefined for never. */
  retryInMs: number | undefined;
}

/**
 * Interprets a failed call: the model's error code, the provider's `Retry-After` as the wait, and whether to retry. Any other
 * error is a bug here or in a provider's library.
 */
export function failureOf(
  error: unknown,
  { modelAttempt, isLastAttempt }: Pick<ClaimedCall, 'modelAttempt' | 'isLastAttempt'>,
): CallFailure {
  const { code, message, retryable, retryAfterMs } =
    error instanceof ModelError ? error : new ModelError('model_unavailable', 'The call ended in an unexpected way.');
  const retryInMs = retryAfterMs ?? FIRST_WAIT_MS * 2 ** (modelAttempt - 1);
  const isFinal = !retryable || isLastAttempt || retryInMs > LONGEST_WAIT_MS;
  return { code, message, retryInMs: isFinal ? undefined : retryInMs };
}

/** The failure for Temporal, with the model's error code as type. */
export function toApplicationFailure({ code, message, retryInMs }: CallFailure, error: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: retryInMs === undefined,
    ...(!(error instanceof ModelError) && error instanceof Error && { cause: error }),
    ...(retryInMs !== undefined && { details: [{ retryInMs } satisfies RetryWait] }),
  });
}

/** A model has no calls left and has not responded. */
export const EXHAUSTED: CallFailure = {
  code: 'model_unavailable' satisfies ModelErrorCode,
  message: `The model did not respond to ${MAX_CALL_ATTEMPTS} calls.`,
  retryInMs: undefined,
};

/** An input that crashes processes must not crash one after the other. */
export const PROCESS_ENDED: CallFailure = {
  code: 'process_ended',
  message: 'Three worker processes ended during calls of this execution, the last one while it ran in isolation.',
  retryInMs: undefined,
};

/** The database rejects the response, which has been paid for. */
export const UNSTORABLE: CallFailure = {
  code: 'model_unavailable' satisfies ModelErrorCode,
  message: "The model's response could not be stored.",
  retryInMs: undefined,
};
