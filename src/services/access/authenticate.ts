import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, Query } from '../../db/database.ts';
import type { ApiKeyKind } from '../../db/entities/api-key.ts';
import { CHANNELS, type Listener } from '../../db/listener.ts';
import { now } from '../../db/sql.ts';
import { type Builder, type PreparedStatement, prepared } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { type Role, scopesWithin } from '../../domain/roles.ts';
import { allows, type Scope } from '../../domain/scopes.ts';
import { hashApiKey } from './api-keys.ts';
import { endOfSession, hashToken } from './sessions.ts';

/** What a caller presents: a key, the token of a session, or an access token of an identity provider. The kinds are never confused. */
export interface Credential {
  kind: 'key' | 'session' | 'access_token';
  token: string;
  /** The workspace to use, of those of the access token's person. Default: the first. */
  workspace?: string | undefined;
}

/** Checks access tokens that identity providers have issued to people for their programs. */
export interface AccessTokens {
  /** @throws ApiError `unauthorized`, `temporarily_unavailable` */
  authenticate(token: string, workspaceName?: string): Promise<AuthenticatedKey>;
  /**
   * Whether a token that was valid still is: it has not expired, and its person is a member. Calls no provider. @throws ApiError
   * `unauthorized`
   */
  lookAgain(token: string, workspaceName?: string): Promise<AuthenticatedKey>;
}

/** Checks credentials. Caches valid ones briefly and evicts them as soon as they are revoked or ended in any process. */
export interface Authenticator {
  /** @throws ApiError `unauthorized` */
  authenticate(credential: Credential): Promise<AuthenticatedKey>;
  /**
   * The credentials that are no longer valid, or have lost the scopes they need (one of these), each with the error to return.
   * Reads the database and ignores the cache. Does not count as use of a session, which would extend it.
   */
  findEnded(credentials: ReadonlyMap<Credential, readonly Scope[]>): Promise<Map<Credential, ApiError>>;
  /** Whether the credential was valid when this process last checked it. Makes no calls. */
  knows(credential: Credential): boolean;
  /** Evicts a revoked key, by its hash, with its sessions. */
  forgetKey(hash: Buffer): void;
  /** Evicts an ended session, by the hash of its token. */
  forgetSession(hash: Buffer): void;
  /** Evicts the keys and sessions of a member whose role or status changed. Other processes are notified. */
  forgetMember(memberId: string): void;
}

/** The caller: a valid key, and the workspace that it gives access to. */
export interface AuthenticatedKey {
  id: string;
  name: string;
  /** Keys that sign in at the console are not the keys that programs send. */
  kind: ApiKeyKind;
  workspaceId: string;
  workspaceName: string;
  scopes: Scope[];
  /** The key that this one was created from, through a session that it started; otherwise its own id. There are no chains. */
  rootKeyId: string;
  /**
   * The member who owns the key; for a key of the workspace, the member who created it, if any. This identifies a person across
   * all of their keys.
   */
  memberId: string | null;
  /** Set if the caller presented the session, not the key. */
  sessionId: string | undefined;
}

const REMEMBER_MS = 30_000;
const REMEMBER_CREDENTIALS = 10_000;
const LAST_USED_EVERY_MS = 60_000;

/** A key that currently gives access to its workspace: not revoked, and not owned by a former member. */
const validKeys = (db: Builder) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('workspaces as w', 'w.id', 'k.workspace_id')
    .leftJoin('members as m', 'm.id', 'k.member_id')
    .where('k.revoked_at', 'is', null)
    .where('w.deleted_at', 'is', null)
    .where((eb) => eb.or([eb('k.member_id', 'is', null), eb('m.status', '=', 'active')]));
const WHO = [
  'k.id',
  'k.name',
  'k.kind',
  'k.workspace_id as workspaceId',
  'w.name as workspaceName',
  'k.scopes',
  'm.role',
] as const;
const memberId = sql<string | null>`coalesce(k.member_id, k.made_by)`.as('memberId');
const rootKeyId = sql<string>`coalesce(k.made_from, k.id)`.as('rootKeyId');

const FIND_KEY = prepared<{ hash: Buffer }>()((db, { hash }) =>
  validKeys(db)
    .select([...WHO, 'k.expires_at as expiresAt', memberId, rootKeyId])
    .where('k.hash', '=', hash),
);
const FIND_SESSION = prepared<{ hash: Buffer }>()((db, { hash }) =>
  validKeys(db)
    .innerJoin('sessions as s', 's.api_key_id', 'k.id')
    .select([...WHO, 's.expires_at as expiresAt', memberId, rootKeyId])
    .select(['s.id as sessionId', 'k.hash as keyHash'])
    .where('s.hash', '=', hash),
);
const FIND_VALID = prepared<{ keys: Buffer[]; sessions: Buffer[] }>()((db, { keys, sessions }) =>
  validKeys(db)
    .select(['k.hash', 'k.scopes', 'm.role'])
    .where(sql<SqlBool>`k.hash = any(${keys}::bytea[])`)
    .where((eb) => eb.or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)]))
    .unionAll(
      validKeys(db)
        .innerJoin('sessions as s', 's.api_key_id', 'k.id')
        .select(['s.hash', 'k.scopes', 'm.role'])
        .where(sql<SqlBool>`s.hash = any(${sessions}::bytea[])`)
        .where('s.expires_at', '>', now),
    ),
);
const TOUCH_KEY = prepared<{ id: string }>()((db, { id }) =>
  db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id),
);
const TOUCH_SESSION = prepared<{ id: string }>()((db, { id }) =>
  db
    .updateTable('sessions as s')
    .from('api_keys as k')
    .set((eb) => ({
      last_used_at: now,
      expires_at: endOfSession({
        createdAt: eb.ref('s.created_at'),
        keyExpiresAt: eb.ref('k.expires_at'),
        validUntil: eb.ref('s.valid_until'),
      }),
    }))
    .whereRef('k.id', '=', 's.api_key_id')
    .where('s.id', '=', id)
    // An expired session never becomes valid again.
    .where('s.expires_at', '>', now),
);

const UNKNOWN = {
  key: 'This API key is unknown, revoked or expired.',
  access_token: 'This access token is invalid or expired.',
  session: 'This session is unknown or has ended. Sign in again.',
} as const;

/** The scopes of a member's key are limited by the member's role. */
const keyOf = ({ role, ...key }: AuthenticatedKey & { role: Role | null }): AuthenticatedKey => ({
  ...key,
  scopes: scopesWithin(key.scopes, role),
});

/**
 * The key of a session, with its current scopes.
 * @param query across workspaces
 * @returns undefined if the session or its key has ended
 */
export async function keyOfSession(query: Query, sessionId: string): Promise<AuthenticatedKey | undefined> {
  const [row] = await query((db) =>
    validKeys(db)
      .innerJoin('sessions as s', 's.api_key_id', 'k.id')
      .select([...WHO, memberId, rootKeyId, 's.id as sessionId'])
      .where('s.id', '=', sessionId)
      .where('s.expires_at', '>', now),
  );
  return row && keyOf(row);
}

interface Known {
  key: AuthenticatedKey;
  expiresAt: Date | null;
  /** The hash of the key that a session belongs to. */
  keyHash: Buffer | undefined;
}

/** @param accessTokens undefined if access tokens are not accepted */
export function createAuthenticator(
  db: Database,
  listener: Listener,
  log: Logger,
  accessTokens?: AccessTokens,
): Authenticator {
  const remembered = new Map<string, Known & { until: number }>();
  const touched = new Map<string, number>();
  /** The number of evictions so far. A read that started before the latest one may be out of date. */
  let revocations = 0;

  const hashOf = ({ kind, token }: Credential) => (kind === 'key' ? hashApiKey(token) : hashToken(token));
  const nameOf = (kind: Credential['kind'], hash: Buffer) => `${kind} ${hash.toString('hex')}`;

  function forgetKey(hash: Buffer): void {
    revocations += 1;
    remembered.delete(nameOf('key', hash));
    for (const [name, { keyHash }] of remembered) if (keyHash?.equals(hash)) remembered.delete(name);
  }
  function forgetSession(hash: Buffer): void {
    revocations += 1;
    remembered.delete(nameOf('session', hash));
  }
  function forgetMember(memberId: string): void {
    revocations += 1;
    for (const [name, { key }] of remembered) if (key.memberId === memberId) remembered.delete(name);
  }
  listener.on(CHANNELS.apiKeyRevoked, (hash) => forgetKey(Buffer.from(hash, 'hex')));
  listener.on(CHANNELS.sessionEnded, (hash) => forgetSession(Buffer.from(hash, 'hex')));
  // A revocation may have been missed while the connection was down.
  listener.onReconnected(() => {
    revocations += 1;
    for (const known of remembered.values()) known.until = 0;
  });

  async function read(kind: Credential['kind'], hash: Buffer): Promise<Known | undefined> {
    if (kind === 'key') {
      const [row] = await db.system.query(FIND_KEY, { hash });
      if (row === undefined) return undefined;
      const { expiresAt, ...key } = row;
      return { key: keyOf({ ...key, sessionId: undefined }), expiresAt, keyHash: undefined };
    }
    const [row] = await db.system.query(FIND_SESSION, { hash });
    if (row === undefined) return undefined;
    const { expiresAt, keyHash, ...key } = row;
    return { key: keyOf(key), expiresAt, keyHash };
  }

  async function find(credential: Credential): Promise<Known | undefined> {
    const hash = hashOf(credential);
    const name = nameOf(credential.kind, hash);
    const known = remembered.get(name);
    if (known && known.until > Date.now() && listener.connected()) return known;
    const revocationsBefore = revocations;
    const found = await read(credential.kind, hash);
    remembered.delete(name);
    if (!found) return undefined;
    if (revocations === revocationsBefore) {
      if (remembered.size >= REMEMBER_CREDENTIALS)
        for (const [oldest] of remembered.entries().take(1)) remembered.delete(oldest);
      remembered.set(name, { ...found, until: Date.now() + REMEMBER_MS });
    }
    return found;
  }

  async function authenticateToken({ token, workspace }: Credential): Promise<AuthenticatedKey> {
    if (accessTokens === undefined) throw new ApiError('unauthorized', UNKNOWN.access_token);
    return accessTokens.authenticate(token, workspace);
  }

  /** Undefined if the token is no longer valid. */
  async function ofGoodToken({ token, workspace }: Credential): Promise<AuthenticatedKey | undefined> {
    try {
      return await accessTokens?.lookAgain(token, workspace);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') return undefined;
      throw error;
    }
  }

  function touch(statement: PreparedStatement<{ id: string }, unknown>, id: string): void {
    const at = Date.now();
    if (at - (touched.get(id) ?? 0) < LAST_USED_EVERY_MS) return;
    if (touched.size >= REMEMBER_CREDENTIALS) touched.clear();
    touched.set(id, at);
    // Not worth failing or delaying a request.
    db.system
      .query(statement, { id })
      .catch((error: unknown) => log.warn({ err: error }, 'cannot record the use of a key'));
  }

  return {
    async findEnded(credentials) {
      const hashes = new Map([...credentials.keys()].map((credential) => [credential, hashOf(credential)]));
      const of = (kind: Credential['kind']) => {
        const ofKind = [...hashes].filter(([credential]) => credential.kind === kind);
        return [...new Map(ofKind.map(([, hash]) => [hash.toString('hex'), hash])).values()];
      };
      const rows = await db.system.query(FIND_VALID, { keys: of('key'), sessions: of('session') });
      const valid = new Map(rows.map(({ hash, scopes, role }) => [hash.toString('hex'), scopesWithin(scopes, role)]));
      const looks = new Map<string, Promise<AuthenticatedKey | undefined>>();
      const scopesNow = async (credential: Credential, hash: Buffer) => {
        if (credential.kind !== 'access_token') return valid.get(hash.toString('hex'));
        // One check for all credentials with the same token and workspace.
        const name = `${hash.toString('hex')} ${credential.workspace}`;
        const look = looks.get(name) ?? ofGoodToken(credential);
        looks.set(name, look);
        return (await look)?.scopes;
      };
      const ended = new Map<Credential, ApiError>();
      const check = async ([credential, hash]: [Credential, Buffer]) => {
        const scopes = await scopesNow(credential, hash);
        if (scopes === undefined || !allows(scopes, ...(credentials.get(credential) ?? [])))
          ended.set(credential, new ApiError('unauthorized', UNKNOWN[credential.kind]));
      };
      await Promise.all([...hashes].map(check));
      return ended;
    },
    knows: (credential) => remembered.has(nameOf(credential.kind, hashOf(credential))),
    async authenticate(credential) {
      if (credential.kind === 'access_token') {
        const key = await authenticateToken(credential);
        touch(TOUCH_KEY, key.id);
        return key;
      }
      const known = await find(credential);
      if (known === undefined || (known.expiresAt !== null && known.expiresAt.getTime() <= Date.now()))
        throw new ApiError('unauthorized', UNKNOWN[credential.kind]);
      const { key } = known;
      touch(TOUCH_KEY, key.id);
      if (key.sessionId !== undefined) touch(TOUCH_SESSION, key.sessionId);
      return key;
    },
    forgetKey,
    forgetSession,
    forgetMember,
  };
}
