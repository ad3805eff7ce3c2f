/** What a key may do. `publish`: move protected labels. `admin` may do everything. */
export const SCOPES = ['read', 'execute', 'write', 'publish', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
