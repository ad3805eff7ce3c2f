import type { Query } from '../db/database.ts';
import { now } from '../db/sql.ts';
import { createSession, type ProviderPart, type SessionRow } from '../services/access/sessions.ts';
import { type Acting, actAs } from '../services/audit/acting.ts';
import { signInKeyOf } from '../services/members/members.ts';
import { type ActiveMember, lockMember } from './users.ts';

/** The client of a sign-in. */
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

/** The caller as an audit log actor, without a key or with the given one. */
export const actingOf = ({ address, requestId }: Caller, key?: Acting['key']): Acting => ({
  key,
  address,
  requestId,
  actions: undefined,
});

/**
 * Starts a session of a member. Its token is always new, whatever the browser sent.
 * @param query across workspaces, in a transaction
 * @param since when the person signed in, if this is not the first session since then
 * @throws ApiError `unauthorized` if the membership has ended in the meantime
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
  // So the next sign-in leads to this workspace again.
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
