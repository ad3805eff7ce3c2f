import type { ErrorDetail } from './prompt-rules/types.ts';

export type { ErrorDetail };

/** The kinds of errors that callers can distinguish. */
export const ERROR_CODES = [
  'invalid_request',
  'payload_too_large',
  'prompt_archived',
  'version_conflict',
  'idempotency_key_reused',
  'invalid_state',
  'authorization_pending',
  'slow_down',
  'denied',
  'expired',
  'unauthorized',
  'insufficient_scope',
  'not_found',
  'rate_limited',
  'quota_exceeded',
  'internal_error',
  'temporarily_unavailable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error for the caller of the API: its message says what to change and contains nothing internal. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  /** When the same request may succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: ErrorDetail[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** `invalid_request` about one field. */
export function invalidField(path: string, message: string): ApiError {
  return new ApiError('invalid_request', `${path}: ${message}`, { details: [{ path, message }] });
}

/** `not_found`: also for resources of another workspace. */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `${what} does not exist in this workspace.`);
}

/** For errors that resolve themselves within seconds. */
export const RETRY_AFTER_SECONDS = 5;

/** `rate_limited`: the workspace has too much in progress, so this was not started. */
export function tooManyWaiting(cause: unknown): ApiError {
  return new ApiError('rate_limited', 'Too many requests of this workspace are waiting. Try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** `temporarily_unavailable`; the message says what could not be done. */
export function temporarilyUnavailable(message: string, cause?: unknown): ApiError {
  return new ApiError('temporarily_unavailable', `${message} Try again in a few seconds.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
