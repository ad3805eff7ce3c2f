/** One field at fault: `path` in dot notation (`variables.name`, `examples.3.id`), and what to change. */
export interface ErrorDetail {
  path: string;
  message: string;
}

/** Every error code a caller can see, with the status it answers with. The one place where the two meet. */
export const STATUS_OF_CODE = {
  invalid_request: 400,
  payload_too_large: 400,
  prompt_archived: 400,
  idempotency_key_reused: 400,
  invalid_state: 400,
  unauthorized: 401,
  insufficient_scope: 401,
  not_found: 404,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  temporarily_unavailable: 500,
} as const;

export type ErrorCode = keyof typeof STATUS_OF_CODE;

/** An error meant for the caller of the API: its message says what to change and holds nothing internal. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetail[] | undefined;
  /** Sent as `Retry-After`. */
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

  get status(): number {
    return STATUS_OF_CODE[this.code];
  }
}

/** 400 `invalid_request` about one field. */
export function invalidField(path: string, message: string): ApiError {
  return new ApiError('invalid_request', `${path}: ${message}`, { details: [{ path, message }] });
}

/** 404 `not_found`: also for what belongs to another workspace. */
export function notFound(what: string): ApiError {
  return new ApiError('not_found', `${what} does not exist in this workspace.`);
}
