import { SCOPES, type Scope } from './scopes.ts';

/** What a member of a workspace can do, from least to most: each role includes the one before it. */
export const ROLES = ['viewer', 'runner', 'editor', 'publisher', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The scopes that each role adds to the one before it. */
const ADDED: Record<Role, readonly Scope[]> = {
  viewer: ['read'],
  runner: ['execute', 'score', 'ingest'],
  editor: ['write'],
  publisher: ['publish'],
  admin: ['admin'],
};

const SCOPES_OF = Object.fromEntries(
  ROLES.map((role, index) => [role, ROLES.slice(0, index + 1).flatMap((each) => ADDED[each])]),
) as Record<Role, Scope[]>;

/** The scopes of a role, in the order of {@link SCOPES}. */
export const scopesOfRole = (role: Role): Scope[] => SCOPES_OF[role];

/** What a key can do: its own scopes, limited by the role if a member owns it. @param role null if no member owns it */
export const scopesWithin = (scopes: Scope[], role: Role | null): Scope[] => {
  if (role === null) return scopes;
  const all = scopes.includes('admin') ? SCOPES : scopes;
  return all.filter((scope) => SCOPES_OF[role].includes(scope));
};

/** The most powerful of these roles; undefined if there is none. */
export const highestRole = (roles: readonly Role[]): Role | undefined => ROLES.findLast((role) => roles.includes(role));

/** A role in a workspace, by the workspace's name. */
export interface Grant {
  workspace: string;
  role: Role;
}

/** `workspace:role`, as in settings. @returns undefined if it is invalid */
export function parseGrant(text: string): Grant | undefined {
  const at = text.lastIndexOf(':');
  const [workspace, role] = [text.slice(0, at), text.slice(at + 1)];
  const found = ROLES.find((each) => each === role);
  return at > 0 && found !== undefined ? { workspace, role: found } : undefined;
}
