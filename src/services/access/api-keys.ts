import { hash, randomBytes } from 'node:crypto';
import { expressionBuilder, type Selectable, sql } from 'kysely';
import type { Query, SystemDatabase, WorkspaceDatabase } from '../../db/database.ts';
import type { ApiKeyKind } from '../../db/entities/api-key.ts';
import type { Page } from '../../db/read-page.ts';
import { anyOf, given, now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId, parsePublicId, publicId } from '../../domain/ids.ts';
import type { Scope } from '../../domain/scopes.ts';
import { recordChange, recordChanges } from '../audit/record-change.ts';
import { rowsBy } from '../named-rows.ts';
import { endAccess } from './end-access.ts';

export { SCOPES, type Scope } from '../../domain/scopes.ts';

/** The columns of a key that are shown. */
const SHOWN = [
  'id',
  'name',
  'kind',
  'member_id',
  'scopes',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'created_at',
] as const;
export type ApiKeyRow = Pick<Selectable<Tables['api_keys']>, (typeof SHOWN)[number]>;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new key: `pms_` and 32 random bytes in base62. */
export function generateApiKey(): string {
  let number = BigInt(`0x${randomBytes(32).toString('hex')}`);
  let body = '';
  for (let digit = 0; digit < 43; digit++) {
    body = BASE62[Number(number % 62n)] + body;
    number /= 62n;
  }
  return `pms_${body}`;
}

/** SHA-256 of a key, the only form in which it is stored. A key has 256 random bits, so a fast hash is safe. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export interface NewApiKey {
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
  /** Default: `service`. */
  kind?: ApiKeyKind;
  /** The member who owns it. Default: none. */
  memberId?: string | null;
  /** The member who creates it. */
  madeBy?: string | null;
  /** The key whose end also ends this one. Default: none. */
  madeFrom?: string | null;
  /** The reason, for the audit log. */
  reason?: string;
}

/** Stores the hash of a key inside the caller's transaction. */
export async function createApiKey(
  query: Query,
  key: string,
  { name, scopes, expiresAt, kind = 'service', memberId = null, madeBy = null, madeFrom = null, reason }: NewApiKey,
): Promise<ApiKeyRow> {
  const [row] = await query((db) =>
    db
      .insertInto('api_keys')
      .values({
        id: newId(),
        kind,
        member_id: memberId,
        made_by: madeBy,
        made_from: madeFrom,
        name,
        hash: hashApiKey(key),
        scopes,
        expires_at: expiresAt,
        created_at: now,
      })
      .returning(SHOWN),
  );
  if (row === undefined) throw new Error('The new key was not returned.');
  await recordChange(query, 'api_key.created', publicId('apiKey', row.id), {
    name,
    scopes,
    expires_at: expiresAt?.toISOString() ?? null,
    ...(kind === 'service' ? {} : { kind }),
    ...(reason === undefined ? {} : { reason }),
  });
  return row;
}

const selectKeys = (db: Builder) => db.selectFrom('api_keys').select(SHOWN);

const API_KEYS = rowsBy({
  select: selectKeys,
  keys: ['id'],
  bytes: () => sql<number>`octet_length(name)`,
  what: 'This key',
});

/** All keys of a workspace, newest first, except those that only carry sessions of members. */
export const allApiKeys = ({ query }: WorkspaceDatabase): Promise<ApiKeyRow[]> =>
  query((own) => selectKeys(own).where('kind', '<>', 'sign_in').orderBy('id', 'desc'));

/**
 * Like `allApiKeys`: a page of at most `limit` before the id `before`.
 * @param personalOf only the personal keys of this member
 */
export function listApiKeys(
  { query }: WorkspaceDatabase,
  limit: number,
  before: string | undefined,
  personalOf?: string,
): Promise<Page<ApiKeyRow>> {
  const eb = expressionBuilder<Tables, 'api_keys'>();
  const own = given(personalOf, (value) => eb.and([eb('member_id', '=', value), eb('kind', '=', 'personal')]));
  return API_KEYS.list(query, limit, before, eb.and([eb('kind', '<>', 'sign_in'), ...own]));
}

/**
 * Locks a key until the transaction ends, so that it cannot be revoked before the rows that depend on it exist. @throws ApiError
 * `unauthorized` if it was revoked
 */
export async function holdKey(query: Query, id: string): Promise<{ expires_at: Date | null }> {
  const [row] = await query((own) =>
    own.selectFrom('api_keys').select('expires_at').where('id', '=', id).where('revoked_at', 'is', null).forShare(),
  );
  if (row === undefined) throw new ApiError('unauthorized', 'This API key was revoked.');
  return row;
}

/** @throws ApiError `not_found` */
export const getApiKey = (query: Query, id: string): Promise<ApiKeyRow> => API_KEYS.get(query, { id });

/**
 * For operators, who have only the id of a key.
 * @throws ApiError `not_found`
 */
export async function findKey(db: SystemDatabase, publicKeyId: string): Promise<{ id: string; workspaceId: string }> {
  const id = parsePublicId('apiKey', publicKeyId);
  const [row] =
    id === undefined
      ? []
      : await db.query((all) => all.selectFrom('api_keys').select('workspace_id').where('id', '=', id));
  if (id === undefined || row === undefined) throw new ApiError('not_found', `There is no key "${publicKeyId}".`);
  return { id, workspaceId: row.workspace_id };
}

/**
 * Revokes a key in every process, together with all keys derived from it at any depth, and ends their sessions. Revoking again has no effect.
 * @throws ApiError `not_found`
 */
export async function revokeApiKey(db: WorkspaceDatabase, id: string): Promise<{ key: ApiKeyRow; hash: Buffer }> {
  return db.transaction(async (query) => {
    // A request that derives a key locks its parent first: the derived key either exists by now, or can no longer be created.
    const [held] = await query((own) => own.selectFrom('api_keys').select('hash').where('id', '=', id).forUpdate());
    if (held === undefined) throw notFound('This key');
    const keys = [id];
    for (let made = keys; made.length > 0; keys.push(...made)) made = await holdMade(query, made);
    const revoked = await endAccess(query, { keys }, 'keys');
    await recordChanges(
      query,
      'api_key.revoked',
      revoked
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map((key) => ({ resourceId: publicId('apiKey', key.id), details: { name: key.name } })),
    );
    return { key: await getApiKey(query, id), hash: held.hash };
  });
}

/** Locks the keys derived from the given keys. @returns their ids */
async function holdMade(query: Query, from: readonly string[]): Promise<string[]> {
  const rows = await query((own) =>
    own
      .selectFrom('api_keys')
      .select('id')
      .where('made_from', '=', anyOf(from))
      .where('revoked_at', 'is', null)
      .forUpdate(),
  );
  return rows.map(({ id }) => id);
}
