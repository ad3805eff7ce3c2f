import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { CHANNELS, type Listener } from '../../db/listener.ts';
import { now } from '../../db/sql.ts';
import { prepared, type RowOf } from '../../db/statement.ts';
import { ApiError } from '../../domain/errors.ts';
import { hashApiKey } from './api-keys.ts';

/** Checks keys. Remembers valid ones for a short while and forgets them the moment one is revoked anywhere. */
export interface Authenticator {
  /** @throws ApiError `unauthorized` */
  authenticate(authorization: string | undefined): Promise<AuthenticatedKey>;
  /** Whether the key was valid when this process last saw it. Asks no one. */
  knows(authorization: string | undefined): boolean;
  forget(hash: Buffer): void;
}

function tokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,255})$/i.exec(authorization ?? '')?.[1];
}

const REMEMBER_MS = 30_000;
const REMEMBER_KEYS = 10_000;
const LAST_USED_EVERY_MS = 60_000;

const FIND_KEY = prepared<{ hash: Buffer }>()((db, { hash }) =>
  db
    .selectFrom('api_keys as k')
    .innerJoin('workspaces as w', 'w.id', 'k.workspace_id')
    .select(['k.id', 'k.workspace_id as workspaceId', 'k.scopes', 'k.expires_at as expiresAt'])
    .where('k.hash', '=', hash)
    .where('k.revoked_at', 'is', null)
    .where('w.deleted_at', 'is', null),
);
const TOUCH_KEY = prepared<{ id: string }>()((db, { id }) =>
  db.updateTable('api_keys').set({ last_used_at: now }).where('id', '=', id),
);

/** Who asks: a valid key and the workspace that it opens. */
export type AuthenticatedKey = RowOf<typeof FIND_KEY>;

export function createAuthenticator(db: Database, listener: Listener, log: Logger): Authenticator {
  const remembered = new Map<string, { key: AuthenticatedKey; until: number }>();
  const touched = new Map<string, number>();
  /** How often keys were forgotten: what was read before the last time may be out of date. */
  let revocations = 0;
  const forget = (hash: string) => {
    revocations += 1;
    remembered.delete(hash);
  };
  listener.on(CHANNELS.apiKeyRevoked, forget);
  // A revocation may have been missed while the connection was away.
  listener.onReconnected(() => {
    revocations += 1;
    for (const known of remembered.values()) known.until = 0;
  });

  async function find(hash: Buffer): Promise<AuthenticatedKey | undefined> {
    const name = hash.toString('hex');
    const known = remembered.get(name);
    if (known && known.until > Date.now() && listener.connected()) return known.key;
    const revocationsBefore = revocations;
    const [key] = await db.system.query(FIND_KEY, { hash });
    remembered.delete(name);
    if (!key) return undefined;
    if (revocations === revocationsBefore) {
      if (remembered.size >= REMEMBER_KEYS)
        for (const [oldest] of remembered.entries().take(1)) remembered.delete(oldest);
      remembered.set(name, { key, until: Date.now() + REMEMBER_MS });
    }
    return key;
  }

  function touch(id: string): void {
    const now = Date.now();
    if (now - (touched.get(id) ?? 0) < LAST_USED_EVERY_MS) return;
    if (touched.size >= REMEMBER_KEYS) touched.clear();
    touched.set(id, now);
    // Not worth failing or delaying a request for.
    db.system
      .query(TOUCH_KEY, { id })
      .catch((error: unknown) => log.warn({ err: error }, 'cannot note the use of a key'));
  }

  return {
    knows(authorization) {
      const token = tokenOf(authorization);
      return token !== undefined && remembered.has(hashApiKey(token).toString('hex'));
    },
    async authenticate(authorization) {
      if (authorization === undefined)
        throw new ApiError('unauthorized', 'Send the header "Authorization: Bearer <API_KEY>".');
      const token = tokenOf(authorization);
      if (token === undefined)
        throw new ApiError('unauthorized', 'The Authorization header must read "Bearer <API_KEY>".');
      const key = await find(hashApiKey(token));
      if (key === undefined || (key.expiresAt !== null && key.expiresAt.getTime() <= Date.now()))
        throw new ApiError('unauthorized', 'This API key is unknown, revoked or expired.');
      touch(key.id);
      return key;
    },
    forget: (hash) => forget(hash.toString('hex')),
  };
}
