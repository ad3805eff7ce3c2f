import { bindWorkspace, type Query } from '../db/database.ts';
import { now } from '../db/sql.ts';
import { asJson } from '../db/statement.ts';
import { ApiError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import type { MemberRow } from '../services/members/members.ts';
import { findUser, syncMembers, type UserRow } from '../services/members/sync-members.ts';
import type { Vouched } from './claims.ts';
import { grantsOfValue, type ProviderSettings } from './provider-settings.ts';

export type ActiveMember = MemberRow & { workspaceName: string };

/** A person and their current memberships. */
export interface KnownUser {
  user: UserRow;
  members: ActiveMember[];
}

/**
 * Records a provider's statement about a person, and updates their memberships. Unknown people without a role are not recorded.
 * @param query across workspaces, in a transaction
 */
export async function noteUser(
  query: Query,
  provider: ProviderSettings,
  { issuer, subject, name, email, grants, isAllowed }: Vouched,
  { isSignIn }: { isSignIn: boolean },
): Promise<KnownUser | undefined> {
  if (grants.length === 0 && (await findUser(query, issuer, subject)) === undefined) return undefined;
  const said = { name, email, grants: asJson(grants), updated_at: now, ...(isSignIn && { last_sign_in_at: now }) };
  const [user] = await query((all) =>
    all
      .insertInto('users')
      .values({ id: newId(), issuer, subject, is_active: true, created_at: now, ...said })
      .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doUpdateSet(said))
      .returningAll(),
  );
  if (user === undefined) throw new Error('The user was not returned.');
  const ofGroup = (groups: readonly string[]) =>
    isAllowed ? groups.flatMap((group) => grantsOfValue(provider, group)) : [];
  // Someone removed by an admin returns by signing in, not by a check of another session.
  return { user, members: await syncMembers(query, user, ofGroup, { mayReturn: isSignIn }) };
}

/** The most recently used workspace of a person; the first by name if none was used. */
export async function lastMember(query: Query, members: readonly ActiveMember[]): Promise<ActiveMember | undefined> {
  if (members.length < 2) return members[0];
  const [last] = await query((all) =>
    all
      .selectFrom('api_keys')
      .select('member_id')
      .where(
        'member_id',
        'in',
        members.map(({ id }) => id),
      )
      .where('kind', '=', 'sign_in')
      .where('last_used_at', 'is not', null)
      .orderBy('last_used_at', 'desc')
      .limit(1),
  );
  return members.find(({ id }) => id === last?.member_id) ?? members[0];
}

/** Prevents others from changing a person's memberships until the transaction ends. @param query across workspaces */
export async function lockMembershipsOf(query: Query, userId: string): Promise<void> {
  await query((all) => all.selectFrom('members').select('id').where('user_id', '=', userId).orderBy('id').forUpdate());
}

/**
 * The queries of a member's workspace, once no other transaction changes the membership.
 * @throws ApiError `unauthorized` if it has ended in the meantime
 */
export async function lockMember(query: Query, { id, workspace_id }: MemberRow): Promise<Query> {
  const own = bindWorkspace(query, workspace_id);
  const [member] = await own((db) => db.selectFrom('members').select('status').where('id', '=', id).forUpdate());
  if (member?.status !== 'active') throw new ApiError('unauthorized', 'This membership has ended.');
  return own;
}
