import { ApiError } from './errors.ts';

/**
 * What a key can do. `score`: only store scores; `ingest`: only store traces and recorded executions. `publish`: move protected
 * labels. `admin`: everything.
 */
export const SCOPES = ['read', 'execute', 'score', 'ingest', 'write', 'publish', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes can do something that needs any of `needed`. */
export const allows = (scopes: readonly Scope[], ...needed: readonly Scope[]): boolean =>
  scopes.includes('admin') || needed.some((scope) => scopes.includes(scope));

/**
 * Requires a further scope if a request sends or shows more than usual. `what`: in words, as a subject. @throws ApiError `insufficient_scope`
 */
export function requireAlso(scopes: readonly Scope[], needed: Scope, what: string): void {
  if (allows(scopes, needed)) return;
  throw new ApiError('insufficient_scope', `${what} also needs the scope "${needed}", which this key lacks.`);
}
