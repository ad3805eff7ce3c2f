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

/** What a caller shows: a key, the token of a session, or an access token of an identity provider. One is never taken for the other. */
export interface Credential {
  kind: 'key' | 'session' | 'access_token';
  token: string;
  /** Which of the workspaces of the access token's person is meant. Default: the first. */
  workspace?: string | undefined;
}

/** Checks access tokens that identity providers have given to people, for programs of theirs. */
export interface AccessTokens {
  /** @throws ApiError `unauthorized`, `temporarily_unavailable` */
  authenticate(token: string, workspaceName?: string): Promise<AuthenticatedKey>;
  /** Whether one that was good goes on to be: it has not expired, and its person is a member. Asks no provider. @throws ApiError `unauthorized` */
  lookAgain(token: string, workspaceName?: string): Promise<AuthenticatedKey>;
}

/** Checks credentials. Remembers valid ones for a short while and forgets them the moment one is revoked or ended anywhere. */
export interface Authenticator {
  /** @throws ApiError `unauthorized` */
  authenticate(credential: Credential): Promise<AuthenticatedKey>;
  /**
   * Those that are not valid any more, or may not do any more what each needs (one of these scopes), each with the error for who has shown
   * it. Asks the database, whatever is remembered; that is no use of a session, which would make it last longer.
   */
  findEnded(credentials: ReadonlyMap<Credential, readonly Scope[]>): Promise<Map<Credential, ApiError>>;
  /** Whether the credential was valid when this process last saw it. Asks no one. */
  knows(credential: Credential): boolean;
  /** A key that was revoked, by its hash, and its sessions. */
  forgetKey(hash: Buffer): void;
  /** A session that was ended, by the hash of its token. */
  forgetSession(hash: Buffer): void;
  /** Whose role or status was changed: keys and sessions. Other processes are notified. */
  forgetMember(memberId: string): void;
}

/** Who asks: a valid key, and the workspace that it opens. */
export interface AuthenticatedKey {
  id: string;
  name: string;
  /** What signs in at the console is not what programs send. */
  kind: ApiKeyKind;
  workspaceId: string;
  workspaceName: string;
  scopes: Scope[];
  /** The key that this one was made from, by a session that it began; its own id if it was not made that way. There are no chains. */
  rootKeyId: string;
  /** Whose key it is; for a key of the workspace, the member who made it, if any. So one person is known by all of his keys. */
  memberId: string | null;
  /** Set where the caller has shown the session, not the key. */
  sessionId: string | undefined;
}

const REMEMBER_MS = 30_000;
const REMEMBER_CREDENTIALS = 10_000;
const LAST_USED_EVERY_MS = 60_000;

/** A key that opens its workspace now: not revoked, and of nobody whose membership has ended. */
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
    // One that has expired does not come back.
    .where('s.expires_at', '>', now),
);

const UNKNOWN = {
  key: 'This API key is unknown, revoked or expired.',
  access_token: 'This access token is invalid or expired.',
  session: 'This session is unknown or has ended. Sign in again.',
} as const;

/** What a member's key may do follows the member's role. */
const keyOf = ({ role, ...key }: AuthenticatedKey & { role: Role | null }): AuthenticatedKey => ({
  ...key,
  scopes: scopesWithin(key.scopes, role),
});

/**
 * Whose session it is, and what it may do now.
 * @param query across workspaces
 * @returns undefined where the session or what it rests on has ended
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
  /** Of the key that a session belongs to. */
  keyHash: Buffer | undefined;
}

/** @param accessTokens undefined: there are none */
export function createAuthenticator(
  db: Database,
  listener: Listener,
  log: Logger,
  accessTokens?: AccessTokens,
): Authenticator {
  const remembered = new Map<string, Known & { until: number }>();
  const touched = new Map<string, number>();
  /** How often credentials were forgotten: what was read before the last time may be out of date. */
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
  // A revocation may have been missed while the connection was away.
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

  /** Undefined: it is not good any more. */
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
    // Not worth failing or delaying a request for.
    db.system
      .query(statement, { id })
      .catch((error: unknown) => log.warn({ err: error }, 'cannot note the use of a key'));
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
        // One look for all that was begun with the same token in the same workspace.
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
