import { hash, randomBytes } from 'node:crypto';
import type { Query, SystemDatabase, WorkspaceDatabase } from '../../db/database.ts';
import { ApiKey } from '../../db/entities/api-key.ts';
import { CHANNELS } from '../../db/listener.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { newId, parsePublicId } from '../../domain/ids.ts';

/** What a key may do. `admin` may do everything. */
export const SCOPES = ['read', 'execute', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

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

/** SHA-256 of a key: the only form in which it is stored. A key has 256 random bits, so a fast hash is safe. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

export interface NewApiKey {
  name: string;
  scopes: Scope[];
  expiresAt: Date | null;
}

/** Stores a key inside the caller's transaction and gives its record; `key` is the text to store the hash of. */
export async function createApiKey(
  query: Query,
  key: string,
  { name, scopes, expiresAt }: NewApiKey,
): Promise<Pick<ApiKey, 'id' | 'name' | 'scopes' | 'expiresAt' | 'revokedAt' | 'lastUsedAt' | 'createdAt'>> {
  const id = newId();
  const createdAt = new Date();
  await query(
    {
      text: `insert into api_keys (workspace_id, id, name, hash, scopes, expires_at, created_at)
             values ($1, $2, $3, $4, $5, $6, $7)`,
    },
    [id, name, hashApiKey(key), scopes, expiresAt, createdAt],
  );
  return { id, name, scopes, expiresAt, revokedAt: null, lastUsedAt: null, createdAt };
}

/**
 * For operators, who know a key by its id alone.
 * @throws ApiError `not_found`
 */
export async function findKey(db: SystemDatabase, publicKeyId: string): Promise<{ id: string; workspaceId: string }> {
  const id = parsePublicId('apiKey', publicKeyId);
  const [row] =
    id === undefined
      ? []
      : await db.query<{ workspace_id: string }>({ text: 'select workspace_id from api_keys where id = $1' }, [id]);
  if (id === undefined || row === undefined) throw new ApiError('not_found', `There is no key "${publicKeyId}".`);
  return { id, workspaceId: row.workspace_id };
}

/**
 * Revokes a key everywhere at once: processes that remember it are told.
 * Revoking again changes nothing.
 * @throws ApiError `not_found`
 */
export async function revokeApiKey(db: WorkspaceDatabase, id: string): Promise<{ key: ApiKey; hash: Buffer }> {
  const em = db.em();
  const key = await em.findOne(ApiKey, { id });
  if (key === null) throw notFound('This key');
  key.revokedAt ??= new Date();
  await em.flush();
  const hash = Buffer.from(key.hash);
  await em.execute('select pg_notify(?, ?)', [CHANNELS.apiKeyRevoked, hash.toString('hex')]);
  return { key, hash };
}
