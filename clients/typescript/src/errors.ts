import type { Error as ErrorBody } from './generated/types.gen.ts';

/** The codes of the service's errors. */
export type ErrorCode = ErrorBody['error']['code'];

interface ErrorFields {
  status?: number | undefined;
  details?: { path: string; message: string }[] | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  idempotencyKey?: string | undefined;
  executionId?: string | undefined;
  cause?: unknown;
}

/** The base class of all errors of this client except for wrong arguments. Distinguish them by class or by `code`. */
export class PmsError extends Error {
  /**
   * The service's code, or one of the client: `connection_failed`, `unexpected_response`, `invalid_variables`, `invalid_signature`,
   * `wait_timeout`.
   */
  readonly code: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The invalid fields. */
  readonly details: readonly { path: string; message: string }[];
  /** Identifies the request in the service's logs. */
  readonly requestId: string | undefined;
  /** How long to wait before the same request may succeed. */
  readonly retryAfterMs: number | undefined;
  /**
   * The key that the request was sent with. Repeating the request with it returns what it has created, instead of creating it
   * twice.
   */
  readonly idempotencyKey: string | undefined;
  /** The execution of the request, `exec_…`, if its id was known. It continues without this client. */
  readonly executionId: string | undefined;

  constructor(code: string, message: string, fields: ErrorFields = {}) {
    const { status, details, requestId, retryAfterMs, idempotencyKey, executionId, cause } = fields;
    super(message, { cause });
    this.name = new.target.name;
    this.code = code;
    this.status = status;
    this.details = details ?? [];
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
    this.idempotencyKey = idempotencyKey;
    this.executionId = executionId;
  }
}

/** `invalid_request`, `payload_too_large`, `idempotency_key_reused`: the request is wrong, and `message` says what to change. */
export class InvalidRequestError extends PmsError {}
/**
 * `invalid_state`: not possible in the current state of the resource. `authorization_pending`, `slow_down`, `denied`, `expired`: errors
 * of `createDeviceKey`.
 */
export class InvalidStateError extends PmsError {}
/** `prompt_archived`. */
export class PromptArchivedError extends PmsError {}
/** `version_conflict`: someone else has created a version since `base_version`. */
export class VersionConflictError extends PmsError {}
/** `unauthorized`: the key is missing, unknown, revoked or expired. */
export class UnauthorizedError extends PmsError {}
/** `insufficient_scope`. */
export class InsufficientScopeError extends PmsError {}
/** `not_found`. */
export class NotFoundError extends PmsError {}
/** `rate_limited`. */
export class RateLimitedError extends PmsError {}
/** `quota_exceeded`. */
export class QuotaExceededError extends PmsError {}
/** `internal_error`, `temporarily_unavailable`, and responses that are not from the service. */
export class ServiceError extends PmsError {}
/** `connection_failed`: no response, or a timeout. */
export class ConnectionError extends PmsError {}
/** `invalid_variables`: a prompt can't be filled with these values. `details` names them. */
export class VariablesError extends PmsError {}
/** `wait_timeout`: the wait is over, but the resource is still in progress. */
export class WaitTimeoutError extends PmsError {}
/** `invalid_signature`: a webhook request is not from the service, or too old. */
export class SignatureError extends PmsError {}

const CLASSES: Readonly<Record<ErrorCode, typeof PmsError>> = {
  invalid_request: InvalidRequestError,
  payload_too_large: InvalidRequestError,
  idempotency_key_reused: InvalidRequestError,
  invalid_state: InvalidStateError,
  authorization_pending: InvalidStateError,
  slow_down: InvalidStateError,
  denied: InvalidStateError,
  expired: InvalidStateError,
  prompt_archived: PromptArchivedError,
  version_conflict: VersionConflictError,
  unauthorized: UnauthorizedError,
  insufficient_scope: InsufficientScopeError,
  not_found: NotFoundError,
  rate_limited: RateLimitedError,
  quota_exceeded: QuotaExceededError,
  internal_error: ServiceError,
  temporarily_unavailable: ServiceError,
};

/** Creates the error of a code in its class. */
export function errorOf(code: string, message: string, fields: ErrorFields = {}): PmsError {
  const known: Readonly<Record<string, typeof PmsError>> = CLASSES;
  return new (Object.hasOwn(known, code) ? (known[code] ?? ServiceError) : ServiceError)(code, message, fields);
}
