import type { z } from 'zod';
import { ApiError } from '../domain/errors.ts';
import { clipPath, detailsOf } from '../domain/text/schema-details.ts';
import { describe } from './json-body.ts';

/**
 * Parses one part of a request.
 * @throws ApiError `invalid_request` naming each invalid field
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = detailsOf(result.error, at);
  throw new ApiError('invalid_request', describe(details), { details });
}

/**
 * The parameters of a query. A repeated parameter is ambiguous.
 * @param repeatable parameters that can be repeated
 * @throws ApiError `invalid_request` naming each other repeated one
 */
export function onlyOnce(
  query: Readonly<Record<string, string | string[] | undefined>>,
  repeatable: readonly string[] = [],
): typeof query {
  const details = Object.entries(query)
    .filter(([name, value]) => Array.isArray(value) && !repeatable.includes(name))
    .map(([name]) => ({ path: clipPath(name), message: 'must be given once' }));
  if (details.length > 0) throw new ApiError('invalid_request', describe(details), { details });
  return query;
}
