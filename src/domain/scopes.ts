import { ApiError } from './errors.ts';

/** What a key may do. `score`: store scores, and nothing else; `ingest`: store traces and recorded executions, and nothing else. `publish`: move protected labels. `admin` may do everything. */
export const SCOPES = ['read', 'execute', 'score', 'ingest', 'write', 'publish', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes may do what needs any of `needed`. */
export const allows = (scopes: readonly Scope[], ...needed: readonly Scope[]): boolean =>
  scopes.includes('admin') || needed.some((scope) => scopes.includes(scope));

/** Where an operation sends or shows more in some cases than in others: what those need, too. `what`: in words, as a subject. @throws ApiError `insufficient_scope` */
export function requireAlso(scopes: readonly Scope[], needed: Scope, what: string): void {
  if (allows(scopes, needed)) return;
  throw new ApiError('insufficient_scope', `${what} also needs the scope "${needed}", which this key lacks.`);
}
