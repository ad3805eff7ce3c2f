import { ApiError } from '../domain/errors.ts';

/** Parameters that can contain slashes. */
const SLASHED = new Set(['name']);

/** `/prompts/{name}/labels/{label}` in the router's notation: `/prompts/*name/labels/:label`. */
export function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (SLASHED.has(name) ? `*${name}` : `:${name}`));
}

/**
 * The path and query of a request target (RFC 9112, section 3.2): `/path?query` unchanged, and `http://host/path?query` without
 * its host. Undefined for every other form.
 */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const rest = /^https?:\/\/[^/?#]+(.*)$/i.exec(target)?.[1];
  return rest === undefined || rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * In a path, `%2F` is equivalent to `/`. The router decodes the other escapes, once.
 * @throws ApiError `invalid_request` on a broken percent escape
 */
export function normalizePath(path: string): string {
  try {
    decodeURIComponent(path);
  } catch {
    throw new ApiError('invalid_request', 'The path has an invalid percent escape: write % as %25.');
  }
  return path.replaceAll(/%2f/gi, '/');
}
