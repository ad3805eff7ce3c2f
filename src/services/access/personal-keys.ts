import type { Selectable } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import type { Page } from '../../db/read-page.ts';
import { now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, invalidField, notFound } from '../../domain/errors.ts';
import type { Scope } from '../../domain/scopes.ts';
import { type ApiKeyRow, createApiKey, holdKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import type { AuthenticatedKey } from './authenticate.ts';

/** The maximum number of valid personal keys of a member. */
export const MAX_PERSONAL_KEYS = 20;

/** The member who owns a key. @returns null for a key of the workspace */
export async function memberOf(
  query: Query,
  id: string | null,
): Promise<Pick<Selectable<Tables['members']>, 'id' | 'name' | 'role'> | null> {
  if (id === null) return null;
  const [row] = await query((own) => own.selectFrom('members').select(['id', 'name', 'role']).where('id', '=', id));
  return row ?? null;
}

/** The member who owns the key or session; undefined for a key of the workspace, even if a member created it. */
export const ownMemberOf = ({ kind, memberId }: AuthenticatedKey): string | undefined =>
  kind === 'personal' || kind === 'sign_in' ? (memberId ?? undefined) : undefined;

/** @throws ApiError `invalid_request` if it is a key of the workspace */
export function requireMember(key: AuthenticatedKey): string {
  const memberId = ownMemberOf(key);
  if (memberId === undefined)
    throw new ApiError(
      'invalid_request',
      'This key belongs to the workspace, not to a member, so it has no personal keys. Sign in as a member, or use a personal key.',
    );
  return memberId;
}

/**
 * Refuses access tokens, because keys created with one would outlive it.
 * @throws ApiError `invalid_request`
 */
export function refuseAccessToken({ kind, sessionId }: AuthenticatedKey): void {
  if (kind === 'sign_in' && sessionId === undefined)
    throw new ApiError('invalid_request', 'An access token cannot create keys: sign in, or use a personal key.');
}

/** The personal keys of a member, newest first. */
export const listPersonalKeys = (
  db: WorkspaceDatabase,
  memberId: string,
  limit: number,
  before: string | undefined,
): Promise<Page<ApiKeyRow>> => listApiKeys(db, limit, before, memberId);

/**
 * Creates a personal key for the caller, inside the caller's transaction. It never has more scopes or a later expiry than the key
 * that creates it.
 * @throws ApiError `invalid_request`, `unauthorized`, `quota_exceeded`
 */
export async function createPersonalKey(
  query: Query,
  caller: AuthenticatedKey,
  text: string,
  { name, scopes, expiresAt }: { name: string; scopes: Scope[]; expiresAt: Date | null | undefined },
): Promise<ApiKeyRow> {
  const memberId = requireMember(caller);
  refuseAccessToken(caller);
  const beyond = scopes.filter((scope) => !caller.scopes.includes(scope));
  if (beyond.length > 0)
    throw invalidField(
      'scopes',
      `must be among the scopes of the caller (${caller.scopes.join(', ')}); ${beyond.join(', ')} ${beyond.length === 1 ? 'is' : 'are'} not`,
    );
  // Locked until the end, so that the membership cannot end in between and the limit cannot be exceeded.
  const [member] = await query((own) =>
    own.selectFrom('members').select('status').where('id', '=', memberId).forUpdate(),
  );
  if (member?.status !== 'active') throw new ApiError('unauthorized', 'This membership has ended.');
  const madeFrom = caller.kind === 'personal' ? caller.id : null;
  const ends = madeFrom === null ? null : (await holdKey(query, madeFrom)).expires_at;
  if (ends !== null && expiresAt !== undefined && (expiresAt === null || expiresAt > ends))
    throw invalidField('expires_at', `must not be after ${ends.toISOString()}, when the calling key expires`);
  const valid = await query((own) =>
    own
      .selectFrom('api_keys')
      .select('id')
      .where('member_id', '=', memberId)
      .where('kind', '=', 'personal')
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])),
  );
  if (valid.length >= MAX_PERSONAL_KEYS)
    throw new ApiError(
      'quota_exceeded',
      `A member can have at most ${MAX_PERSONAL_KEYS} personal keys. Revoke a key that is no longer needed.`,
    );
  return createApiKey(query, text, {
    name,
    scopes,
    expiresAt: expiresAt ?? ends,
    kind: 'personal',
    memberId,
    madeBy: memberId,
    madeFrom,
  });
}

/** @throws ApiError `not_found` also if it is not a personal key of the member */
export async function revokePersonalKey(
  db: WorkspaceDatabase,
  memberId: string,
  id: string,
): Promise<{ key: ApiKeyRow; hash: Buffer }> {
  const [row] = await db.query((own) =>
    own
      .selectFrom('api_keys')
      .select('id')
      .where('id', '=', id)
      .where('member_id', '=', memberId)
      .where('kind', '=', 'personal'),
  );
  if (row === undefined) throw notFound('This key');
  return revokeApiKey(db, id);
}
