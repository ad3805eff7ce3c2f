/** What a key may do. `admin` may do everything. */
export const SCOPES = ['read', 'execute', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
