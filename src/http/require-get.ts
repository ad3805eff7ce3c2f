import type { Context } from 'koa';
import { ApiError } from '../domain/errors.ts';

/** @throws ApiError `invalid_request` for any method except GET and HEAD */
export function requireGet({ method }: Context): void {
  if (method !== 'GET' && method !== 'HEAD')
    throw new ApiError('invalid_request', `${method} is not supported here; use GET.`);
}
