import type { Logger } from 'pino';
import { bindWorkspace, type Database, type Query } from '../db/database.ts';
import type { Cipher } from '../domain/cipher.ts';
import { ApiError } from '../domain/errors.ts';
import { endSessions } from '../services/access/end-access.ts';
import type { ProviderPart, SessionRow } from '../services/access/sessions.ts';
import { actAs } from '../services/audit/acting.ts';
import { activeMembers } from '../services/members/sync-members.ts';
import { vouchedBy } from './claims.ts';
import type { IdentityProvider, ProviderAnswer } from './identity-provider.ts';
import { actingOf, beginMemberSession, type Caller, type MemberSession } from './member-session.ts';
import { decryptTokens, providerPart } from './provider-tokens.ts';
import type { IdentityProviders } from './providers.ts';
import { SignInError } from './sign-in-error.ts';
import { lastMember, lockMembershipsOf, noteUser } from './users.ts';

export interface SignInDeps {
  db: Database;
  cipher: Cipher;
  providers: IdentityProviders;
  log: Logger;
}

/**
 * Signs in a person authenticated by a provider.
 * @throws SignInError `no_role`, `inactive`; lost roles are still recorded
 * @throws ApiError `quota_exceeded` if the audit log is full
 */
export async function signInMember(
  { db, cipher, providers }: SignInDeps,
  providerId: string,
  { claims, tokens }: ProviderAnswer,
  caller: Caller,
): Promise<MemberSession> {
  const { settings } = providers.get(providerId);
  const vouched = vouchedBy(settings, claims);
  const begun = await actAs(actingOf(caller), () =>
    db.system.transaction(async (query) => {
      const known = await noteUser(query, settings, vouched, { isSignIn: true });
      if (known !== undefined && !known.user.is_active) return 'inactive';
      const member = known && (await lastMember(query, known.members));
      if (member === undefined) return 'no_role';
      return beginMemberSession(query, member, providerPart(cipher, providerId, tokens), caller);
    }),
  );
  if (typeof begun === 'string')
    throw new SignInError(begun, `${providerId} authenticated ${vouched.subject}, who has no access: ${begun}`);
  return begun;
}

/** A session of a member, with its provider data. @param lock holds it until the transaction ends */
async function memberSession(query: Query, sessionId: string, { lock }: { lock: boolean }) {
  const [row] = await query((all) => {
    const found = all
      .selectFrom('sessions as s')
      .innerJoin('api_keys as k', 'k.id', 's.api_key_id')
      .innerJoin('members as m', 'm.id', 'k.member_id')
      .select([
        's.provider',
        's.provider_tokens',
        's.check_at',
        's.valid_until',
        's.workspace_id',
        'm.user_id',
        's.created_at',
      ])
      .where('s.id', '=', sessionId)
      // A personal key can have fewer rights than its member, and belongs to one workspace.
      .where('k.kind', '=', 'sign_in');
    return lock ? found.forUpdate('s') : found;
  });
  return row;
}

/** The workspaces that a session can switch to, including its own; empty if it does not belong to a person. */
export async function workspacesOf(query: Query, session: Pick<SessionRow, 'member_id' | 'provider'>) {
  if (session.member_id === null || session.provider === null) return [];
  const [member] = await query((all) =>
    all
      .selectFrom('members')
      .select('user_id')
      .where('id', '=', session.member_id ?? ''),
  );
  const members = member === undefined ? [] : await activeMembers(query, member.user_id);
  return members.map(({ workspaceName, role }) => ({ name: workspaceName, role }));
}

/**
 * Ends a person's session and starts one in another of their workspaces with the same expiry, without another sign-in.
 * @returns the new one, with the token hash of the previous one
 * @throws ApiError `invalid_request` if the session does not belong to a person, `not_found` if they are not a member there
 */
export async function switchWorkspace(
  { db }: Pick<SignInDeps, 'db'>,
  sessionId: string,
  workspace: string,
  caller: Caller,
): Promise<MemberSession & { workspaceName: string; workspaceId: string; endedHash: Buffer | undefined }> {
  return db.system.transaction(async (query) => {
    const asked = await memberSession(query, sessionId, { lock: false });
    // Lock the person's memberships before the session, like everything that ends them.
    if (asked !== undefined) await lockMembershipsOf(query, asked.user_id);
    const before = await memberSession(query, sessionId, { lock: true });
    if (before?.provider == null || before.provider_tokens === null || before.valid_until === null)
      throw new ApiError(
        'invalid_request',
        'This session was started with a key, which is valid for one workspace only.',
      );
    const member = (await activeMembers(query, before.user_id)).find(
      ({ workspaceName }) => workspaceName === workspace,
    );
    if (member === undefined) throw new ApiError('not_found', `You are not a member of the workspace "${workspace}".`);
    const part: ProviderPart = {
      provider: before.provider,
      tokens: before.provider_tokens,
      checkAt: before.check_at,
      validUntil: before.valid_until,
    };
    const begun = await beginMemberSession(query, member, part, caller, before.created_at);
    const own = bindWorkspace(query, before.workspace_id);
    const [ended] = await endSessions(own, sessionId, 'the person switched to another workspace');
    return { ...begun, workspaceName: member.workspaceName, workspaceId: member.workspace_id, endedHash: ended?.hash };
  });
}

/**
 * The provider of a session, with the ID token for signing out there. Read before the session ends. Undefined if it has none.
 */
export async function providerOfSession(
  { cipher, providers }: Pick<SignInDeps, 'cipher' | 'providers'>,
  query: Query,
  sessionId: string,
): Promise<{ provider: IdentityProvider; idToken: string | undefined } | undefined> {
  const [row] = await query((own) =>
    own.selectFrom('sessions').select(['provider', 'provider_tokens']).where('id', '=', sessionId),
  );
  const provider = row?.provider == null ? undefined : providers.find(row.provider);
  return provider && { provider, idToken: decryptTokens(cipher, row?.provider_tokens ?? null).id };
}
