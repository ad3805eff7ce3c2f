import type { Query } from '../db/database.ts';
import { now } from '../db/sql.ts';
import { createSession, type ProviderPart, type SessionRow } from '../services/access/sessions.ts';
import { type Acting, actAs } from '../services/audit/acting.ts';
import { signInKeyOf } from '../services/members/members.ts';
import { type ActiveMember, lockMember } from './users.ts';

/** Whose browser it is. */
export interface Caller {
  address: string;
  userAgent: string | undefined;
  requestId: string;
  requireRoom: (query: Query, isAdmin: boolean) => Promise<void>;
}

export interface MemberSession {
  token: string;
  session: SessionRow;
  keyId: string;
}

/** The caller as one who has shown no key yet, or has shown the one named. */
export const actingOf = ({ address, requestId }: Caller, key?: Acting['key']): Acting => ({
  key,
  address,
  requestId,
  actions: undefined,
});

/**
 * Begins a session of a member. Its token is a new one, whatever the browser has sent.
 * @param query across workspaces, in a transaction
 * @param since when the person signed in, where this is not the first session since then
 * @throws ApiError `unauthorized` where the membership has ended meanwhile
 */
export async function beginMemberSession(
  query: Query,
  member: ActiveMember,
  provider: ProviderPart,
  caller: Caller,
  since?: Date,
): Promise<MemberSession> {
  const own = await lockMember(query, member);
  const keyId = await signInKeyOf(own, member);
  // The next sign-in leads to this workspace again.
  await own((db) => db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', keyId));
  const { requireRoom } = caller;
  const acting: Acting = {
    ...actingOf(caller, { id: keyId, name: member.name, memberId: member.id, sessionId: undefined }),
    requireRoom: (inner) => requireRoom(inner, member.role === 'admin'),
  };
  const { address, userAgent } = caller;
  const created = await actAs(acting, () =>
    createSession(own, { apiKeyId: keyId, address, userAgent, provider, since }),
  );
  return { ...created, keyId };
}
