import { isGrpcServiceError, ServiceError } from '@temporalio/client';
import type { Context, Middleware } from 'koa';
import { isDatabaseUnavailable, ReadGivenUpError, ReadTimeoutError } from '../../db/errors.ts';
import { ApiError, temporarilyUnavailable, tooManyWaiting } from '../../domain/errors.ts';
import type { ErrorFormat } from '../route.ts';
import { isSecurityHeader } from '../security-headers.ts';
import type { AppState } from '../state.ts';
import { STATUS_OF_CODE } from '../status.ts';

/** Converts an error for the caller. Errors not meant for callers become `internal_error`. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof ReadTimeoutError)
    return new ApiError(
      'invalid_request',
      'This request reads too much data. Use a shorter time span, more filters, or a smaller limit.',
      { cause: error },
    );
  if (error instanceof ReadGivenUpError) return tooManyWaiting(error);
  if (isDatabaseUnavailable(error) || isTemporalUnavailable(error))
    return temporarilyUnavailable('The service is temporarily unavailable.', error);
  return new ApiError(
    'internal_error',
    'Internal error. Find it in the service logs by the X-Request-Id of this response.',
    {
      cause: error,
    },
  );
}

/** Temporal's client wraps gRPC errors, or reports a closed connection. */
function isTemporalUnavailable(error: unknown): boolean {
  return error instanceof ServiceError || isGrpcServiceError(error);
}

/** The body of an error response. */
export function errorBody(error: ApiError) {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
    },
  };
}

/**
 * Turns every error into a JSON response with one of the seven statuses of the API.
 * @param formatOf the error format of a path and method with their own
 */
export function errorResponses(
  formatOf: (path: string, method: string) => ErrorFormat | undefined,
): Middleware<AppState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      const format = formatOf(ctx.path, ctx.method);
      const status = STATUS_OF_CODE[error.code];
      if (status === 500)
        ctx.state.log.error({ request_id: ctx.state.requestId, err: error.cause ?? error }, error.message);
      ctx.status = format?.statusOf?.(error.code) ?? status;
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds));
      if (error.code === 'unauthorized') ctx.set('WWW-Authenticate', 'Bearer');
      const encoded = format?.encode?.(error, ctx.get('Content-Type'));
      ctx.body = encoded?.body ?? format?.present(error) ?? errorBody(error);
      if (encoded !== undefined) ctx.type = encoded.contentType;
    }
  };
}

/** Pages of other origins can read errors, too. */
const KEPT = new Set(['x-request-id', 'access-control-allow-origin', 'vary']);

/**
 * Replaces Koa's default error handler, which responds in plain text. It handles errors outside of all middleware, such as an
 * unreadable response body. Once the response has started, the connection is cut, so that a partial response is not taken for a
 * complete one.
 */
export function respondLast(this: Context, thrown: unknown): void {
  if (thrown === null || thrown === undefined) return;
  const { res, state } = this;
  if (this.headerSent || !this.writable) {
    res.destroy();
    return;
  }
  const error = toApiError(thrown);
  state['log']?.error({ request_id: state['requestId'], err: thrown }, error.message);
  const body = JSON.stringify(errorBody(error));
  for (const name of res.getHeaderNames()) if (!KEPT.has(name) && !isSecurityHeader(name)) res.removeHeader(name);
  res.statusCode = STATUS_OF_CODE[error.code];
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(body);
}
