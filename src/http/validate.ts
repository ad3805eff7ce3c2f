import type { z } from 'zod';
import { ApiError, type ErrorDetail } from '../domain/errors.ts';
import { clipPath, describe } from './json-body.ts';

const MAX_DETAILS = 20;
const MAX_MESSAGE_CHARS = 300;

/** zod's issues as details, one per field, unknown fields by their name. */
export function detailsOf(error: z.ZodError, at = ''): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of error.issues) {
    // There may be as many as the request has values.
    if (details.length >= MAX_DETAILS) break;
    const path = clipPath([...(at ? [at] : []), ...issue.path.map(String)].join('.'));
    if (issue.code === 'unrecognized_keys')
      for (const key of issue.keys.slice(0, MAX_DETAILS)) {
        details.push({ path: clipPath(path === '' ? key : `${path}.${key}`), message: 'is not a known field' });
      }
    else details.push({ path, message: issue.message.slice(0, MAX_MESSAGE_CHARS) });
  }
  return details.slice(0, MAX_DETAILS);
}

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
