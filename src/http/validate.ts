import type { z } from 'zod';
import { ApiError } from '../domain/errors.ts';
import { detailsOf } from '../domain/schema-details.ts';
import { describe } from './json-body.ts';

/**
 * Parses one part of a request.
 * @throws ApiError `invalid_request` naming each field at fault
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, at = ''): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = detailsOf(result.error, at);
  throw new ApiError('invalid_request', describe(details), { details });
}
