/** What a key may do. `publish`: move protected labels. `admin` may do everything. */
export const SCOPES = ['read', 'execute', 'write', 'publish', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Whether a key with these scopes may do what needs any of `needed`. */
export const allows = (scopes: readonly Scope[], ...needed: readonly Scope[]): boolean =>
  scopes.includes('admin') || needed.some((scope) => scopes.includes(scope));
