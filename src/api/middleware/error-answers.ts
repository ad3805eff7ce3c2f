import { isGrpcServiceError } from '@temporalio/client';
import type { Middleware } from 'koa';
import { isDatabaseUnavailable } from '../../db/errors.ts';
import { ApiError } from '../../domain/errors.ts';
import type { AppState } from '../app.ts';

const RETRY_AFTER_SECONDS = 5;

/** An error as the caller is told of it. What is not meant for callers becomes a plain 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isDatabaseUnavailable(error) || isGrpcServiceError(unwrap(error)))
    return new ApiError(
      'temporarily_unavailable',
      'The service is not fully up right now. Try again in a few seconds.',
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
        cause: error,
      },
    );
  return new ApiError('internal_error', 'Something went wrong on our side. The request id leads to it in the logs.', {
    cause: error,
  });
}

/** Temporal's client wraps what gRPC said. */
function unwrap(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

/** The body of an error answer. */
export function errorBody(error: ApiError) {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.details === undefined ? {} : { details: error.details }),
    },
  };
}

/** Turns every error into the one JSON form with one of the seven statuses. */
export function errorAnswers(): Middleware<AppState> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.status === 500) ctx.state.log.error({ err: error.cause ?? error }, error.message);
      ctx.status = error.status;
      if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds));
      if (error.code === 'unauthorized') ctx.set('WWW-Authenticate', 'Bearer');
      ctx.body = errorBody(error);
    }
  };
}
