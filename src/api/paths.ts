import { ApiError } from '../domain/errors.ts';

/** Parameters that may hold slashes. */
const SLASHED = new Set(['name']);

/** `/prompts/{name}/labels/{label}` in the router's notation: `/prompts/*name/labels/:label`. */
export function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (SLASHED.has(name) ? `*${name}` : `:${name}`));
}

/** In a path `%2F` means the same as `/`. Decoding the rest is left to {@link nameOf}. */
export function normalizePath(path: string): string {
  return path.replaceAll(/%2f/gi, '/');
}

/** @throws ApiError `invalid_request` on a broken percent escape */
export function nameOf(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new ApiError('invalid_request', 'The path holds a broken percent escape.');
  }
}
