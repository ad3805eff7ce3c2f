import { createHmac, hash, randomBytes } from 'node:crypto';
import { type Expression, type Selectable, sql } from 'kysely';
import { claim } from '../../db/claim.ts';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type Page, selectPage } from '../../db/read-page.ts';
import { given, milliseconds, now } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import type { Role } from '../../domain/roles.ts';
import type { Scope } from '../../domain/scopes.ts';
import { recordChange } from '../audit/record-change.ts';
import { endSessions } from './end-access.ts';

const HOUR_MS = 60 * 60_000;
/** A session ends after being unused for this long. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** The maximum lifetime of a session. */
export const SESSION_MAX_MS = 7 * 24 * HOUR_MS;
/** A sign-in beyond this limit ends the least recently used session of the key. */
export const MAX_SESSIONS_PER_KEY = 100;
const MAX_USER_AGENT_CHARS = 500;

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256 of a session's token, the only form in which it is stored. */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Whether a text has the form of a session token: 32 random bytes in base64url. */
export const isToken = (text: string): boolean => TOKEN.test(text);

/**
 * When a session ends. PostgreSQL's `least` ignores null: a key without expiry, or a session without an identity provider.
 * @param times `usedAt`: default now
 */
export const endOfSession = ({
  usedAt = now,
  createdAt,
  keyExpiresAt,
  validUntil,
}: {
  usedAt?: Expression<Date>;
  createdAt: Expression<Date>;
  keyExpiresAt: Expression<Date | null>;
  validUntil: Expression<Date | null>;
}) =>
  sql<Date>`least(${usedAt} + ${milliseconds(SESSION_IDLE_MS)}, ${createdAt} + ${milliseconds(SESSION_MAX_MS)}, ${keyExpiresAt}, ${validUntil})`;

/** The data of a session from the identity provider that its person signed in with. */
export interface ProviderPart {
  provider: string;
  /** Encrypted. */
  tokens: Buffer;
  /** When to check with the provider again; null if that is not possible. */
  checkAt: Date | Expression<Date> | null;
  /** When the session ends if the provider confirms nothing before then. */
  validUntil: Date | Expression<Date>;
}

/** A session with its key. */
export type SessionRow = Pick<
  Selectable<Tables['sessions']>,
  'id' | 'address' | 'user_agent' | 'created_at' | 'last_used_at' | 'expires_at'
> & {
  key_id: string;
  key_name: string;
  key_scopes: Scope[];
  /** The member who owns the key, and the role that limits it. */
  member_id: string | null;
  member_name: string | null;
  role: Role | null;
  /** The identity provider that the person signed in with. */
  provider: string | null;
};

const selectSessions = (db: Builder) =>
  db
    .selectFrom('sessions as s')
    .innerJoin('api_keys as k', 'k.id', 's.api_key_id')
    .select(['s.id', 's.address', 's.user_agent', 's.created_at', 's.last_used_at', 's.expires_at', 's.provider'])
    .leftJoin('members as m', 'm.id', 'k.member_id')
    .select([
      'k.id as key_id',
      'k.name as key_name',
      'k.scopes as key_scopes',
      'k.member_id',
      'm.name as member_name',
      'm.role',
    ])
    .where('k.revoked_at', 'is', null)
    .where('s.expires_at', '>', now);

/** Whose sessions to consider: those of one key, or of the whole workspace (undefined). */
export interface SessionOwner {
  apiKeyId: string | undefined;
}

/**
 * Starts a session of a key inside the caller's transaction.
 * @returns `token`: kept by the browser and never stored here
 * @throws ApiError `unauthorized` if the key was just revoked
 */
export async function createSession(
  query: Query,
  {
    apiKeyId,
    address,
    userAgent,
    provider,
    since,
  }: {
    apiKeyId: string;
    address: string;
    userAgent: string | undefined;
    provider?: ProviderPart;
    /** When the person signed in, if this session replaces an earlier one. Default: now. */
    since?: Date | undefined;
  },
): Promise<{ token: string; session: SessionRow }> {
  // Locked, so that it cannot be deleted in the meantime.
  const [key] = await query((own) =>
    own
      .selectFrom('api_keys')
      .select('expires_at')
      .where('id', '=', apiKeyId)
      .where('revoked_at', 'is', null)
      .forKeyShare(),
  );
  if (key === undefined) throw new ApiError('unauthorized', 'This API key was revoked.');
  const token = randomBytes(32).toString('base64url');
  const id = newId();
  await query((own) =>
    own.insertInto('sessions').values({
      id,
      api_key_id: apiKeyId,
      hash: hashToken(token),
      address,
      user_agent: userAgent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
      created_at: since ?? now,
      last_used_at: now,
      expires_at: endOfSession({
        createdAt: since === undefined ? now : sql<Date>`${since}::timestamptz`,
        keyExpiresAt: sql<Date | null>`${key.expires_at}::timestamptz`,
        validUntil: sql<Date | null>`cast(${provider?.validUntil ?? null} as timestamptz)`,
      }),
      provider: provider?.provider ?? null,
      provider_tokens: provider?.tokens ?? null,
      check_at: provider?.checkAt ?? null,
      valid_until: provider?.validUntil ?? null,
    }),
  );
  await recordChange(query, 'session.created', publicId('session', id));
  await endSessions(
    query,
    (eb) =>
      eb
        .selectFrom('sessions')
        .select('id')
        .where('api_key_id', '=', apiKeyId)
        .orderBy('last_used_at', 'desc')
        .orderBy('id', 'desc')
        .offset(MAX_SESSIONS_PER_KEY)
        .$call(claim()),
    'too many sessions of the key',
  );
  return { token, session: await getSession(query, id) };
}

/** @throws ApiError `not_found` also if it belongs to another owner */
export async function getSession(
  query: Query,
  id: string,
  { apiKeyId }: SessionOwner = { apiKeyId: undefined },
): Promise<SessionRow> {
  const [row] = await query((own) =>
    selectSessions(own)
      .where('s.id', '=', id)
      .where((eb) => eb.and(given(apiKeyId, (value) => eb('s.api_key_id', '=', value)))),
  );
  if (row === undefined) throw notFound('This session');
  return row;
}

/**
 * The key with which the console encrypts unsaved texts before a browser stores them: the same for all sessions of an API key,
 * different for each API key. A person who signs in with another key, or is signed out, cannot read them. Derived
 * from the API key's stored hash without revealing it.
 * @returns 32 bytes in base64
 * @throws ApiError `not_found`
 */
export async function draftsKeyOf(query: Query, sessionId: string): Promise<string> {
  const [row] = await query((own) =>
    own
      .selectFrom('sessions as s')
      .innerJoin('api_keys as k', 'k.id', 's.api_key_id')
      .select('k.hash')
      .where('s.id', '=', sessionId),
  );
  if (row === undefined) throw notFound('This session');
  return createHmac('sha256', row.hash).update('drafts of the console').digest('base64');
}

/** Sessions, newest first: a page of at most `limit` before the id `before`. */
export function listSessions(
  { query }: WorkspaceDatabase,
  { apiKeyId }: SessionOwner,
  limit: number,
  before: string | undefined,
): Promise<Page<SessionRow>> {
  const select = (own: Builder) =>
    selectSessions(own).where((eb) =>
      eb.and([
        ...given(apiKeyId, (value) => eb('s.api_key_id', '=', value)),
        ...given(before, (value) => eb('s.id', '<', value)),
      ]),
    );
  return selectPage(query, { select, orderBy: [['id', 'desc']], bytes: () => sql<number>`500` }, limit);
}

/**
 * Ends a session, in every process.
 * @returns the session before the change, and the hash of its token
 * @throws ApiError `not_found` also if it belongs to another owner
 */
export async function endSession(
  db: WorkspaceDatabase,
  id: string,
  owner: SessionOwner,
): Promise<{ session: SessionRow; hash: Buffer }> {
  return db.transaction(async (query) => {
    const session = await getSession(query, id, owner);
    const [ended] = await endSessions(query, id);
    // A concurrent request has ended it.
    if (ended === undefined) throw notFound('This session');
    return { session, hash: ended.hash };
  });
}
