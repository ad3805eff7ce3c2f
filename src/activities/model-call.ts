import { ApplicationFailure } from '@temporalio/activity';
import { MAX_CALL_ATTEMPTS } from '../domain/limits.ts';
import { ModelError, type ModelErrorCode } from '../models/model-error.ts';
import type { ExecutionError } from '../services/executions/run/calls.ts';
import type { ClaimedCall } from '../services/executions/run/claim-execution.ts';

/** Calls in flight in this process, by execution. */
export interface CallsInFlight<Outcome> {
  has(executionId: string): boolean;
  /** Makes a call, or waits for the one in flight: a step that Temporal has run again does not pay twice. */
  join(executionId: string, call: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome>;
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

/** Made once: most calls are given up when they have just ended. */
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

/** How long to wait before the next call, as the details of a failure. */
export interface RetryWait {
  retryInMs: number;
}

/** A call that failed: what its caller is told, and what comes next. */
export interface CallFailure extends ExecutionError {
  /** How long to wait before this model is called again; undefined: it is not. */
  retryInMs: number | undefined;
}

/**
 * What a failed call means: the model's code, the provider's `Retry-After` as the wait, and whether there is a retry. What is
 * no model's error is a fault of ours, or of a provider's library.
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

/** A failure as Temporal gets it, with the model's code as type. */
export function toApplicationFailure({ code, message, retryInMs }: CallFailure, error: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type: code,
    message,
    nonRetryable: retryInMs === undefined,
    ...(!(error instanceof ModelError) && error instanceof Error && { cause: error }),
    ...(retryInMs !== undefined && { details: [{ retryInMs } satisfies RetryWait] }),
  });
}

/** A model may not be called any more, and has not responded. */
export const EXHAUSTED: CallFailure = {
  code: 'model_unavailable' satisfies ModelErrorCode,
  message: `The model did not respond to ${MAX_CALL_ATTEMPTS} calls.`,
  retryInMs: undefined,
};

/** Whatever it is that ends processes, it must not end one after the other. */
export const PROCESS_ENDED: CallFailure = {
  code: 'process_ended',
  message: 'Three worker processes ended during calls of this execution, the last one while it ran in isolation.',
  retryInMs: undefined,
};

/** The database refuses to store the response, which has been paid for. */
export const UNSTORABLE: CallFailure = {
  code: 'model_unavailable' satisfies ModelErrorCode,
  message: "The model's response could not be stored.",
  retryInMs: undefined,
};
