import type { ErrorCode } from '../domain/errors.ts';

/** The status of every error code. The only place that maps the two. */
export const STATUS_OF_CODE = {
  invalid_request: 400,
  payload_too_large: 400,
  prompt_archived: 400,
  version_conflict: 400,
  idempotency_key_reused: 400,
  invalid_state: 400,
  authorization_pending: 400,
  slow_down: 400,
  denied: 400,
  expired: 400,
  unauthorized: 401,
  insufficient_scope: 401,
  not_found: 404,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  temporarily_unavailable: 500,
} as const satisfies Record<ErrorCode, number>;
