import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { now } from '../../db/sql.ts';
import { prepared } from '../../db/statement.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { newId } from '../../domain/ids.ts';
import { JsonText, stringifyJson } from '../../domain/json-text.ts';
import { IDEMPOTENCY_HOURS } from '../../domain/limits.ts';

/** What an earlier request with the same `Idempotency-Key` created. */
export interface UsedKey {
  /** UUID of the key's row. */
  id: string;
  requestHash: Buffer;
  /** Id of what was created. */
  resourceId: string;
  /** The first response, decrypted; absent until it is known. */
  response?: unknown;
}

/** What a request created, and the response where it is known already. */
export interface Created {
  resourceId: string;
  response?: unknown;
}

/**
 * Idempotency keys of a workspace. Responses are encrypted, since they may hold a secret. Every `query` is bound to the
 * workspace.
 */
export interface IdempotencyKeys {
  /** @returns undefined where the key was not used, or longer ago than {@link IDEMPOTENCY_HOURS} */
  find(query: Query, key: string): Promise<UsedKey | undefined>;
  /**
   * Takes a key and creates something with it, in the transaction of `query`. Waits for a transaction that has taken the same key.
   * @returns UUID of the key's row, and what was created
   * @throws Error where that transaction has committed: see {@link isKeyTaken}
   */
  createWith<C extends Created>(
    query: Query,
    request: { key: string; requestHash: Buffer },
    create: (query: Query) => Promise<C>,
  ): Promise<{ keyId: string; created: C }>;
  /** Stores the response unless there is one. @returns the one that is stored; the given one where the key is gone */
  keepResponse(query: Query, id: string, response: unknown): Promise<unknown>;
}

/** What was used before this is forgotten. */
const EXPIRED_BEFORE = sql<Date>`now() - interval ${sql.lit(`${IDEMPOTENCY_HOURS} hours`)}`;

const FIND = prepared<{ key: string }>()((db, { key }) =>
  db
    .selectFrom('idempotency_keys')
    .select(['id', 'request_hash', 'resource_id', 'answer'])
    .where('key', '=', key)
    .where('created_at', '>', EXPIRED_BEFORE),
);
const DELETE_EXPIRED = prepared<{ key: string }>()((db, { key }) =>
  db.deleteFrom('idempotency_keys').where('key', '=', key).where('created_at', '<=', EXPIRED_BEFORE),
);
const INSERT = prepared<{ id: string; key: string; requestHash: Buffer }>()((db, { id, key, requestHash }) =>
  db
    .insertInto('idempotency_keys')
    .values({ id, key, request_hash: requestHash, resource_id: '', answer: null, created_at: now }),
);
const COMPLETE = prepared<{ id: string; resourceId: string; response: Buffer | null }>()(
  (db, { id, resourceId, response }) =>
    db.updateTable('idempotency_keys').set({ resource_id: resourceId, answer: response }).where('id', '=', id),
);
const KEEP_RESPONSE = prepared<{ id: string; response: Buffer }>()((db, { id, response }) =>
  db
    .updateTable('idempotency_keys')
    .set((eb) => ({ answer: eb.fn.coalesce('answer', response) }))
    .where('id', '=', id)
    .returning('answer'),
);

/** Whether {@link IdempotencyKeys.createWith} failed because another request was faster. */
export function isKeyTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'idempotency_keys_workspace_id_key_unique');
}

export function createIdempotencyKeys(cipher: Cipher): IdempotencyKeys {
  const encrypt = (response: unknown) => cipher.encrypt(Buffer.from(stringifyJson(response)));
  const decrypt = (response: Buffer) => new JsonText(cipher.decrypt(response).toString());

  return {
    async find(query, key) {
      const [row] = await query(FIND, { key });
      if (row === undefined) return undefined;
      const { id, request_hash: requestHash, resource_id: resourceId, answer } = row;
      return { id, requestHash, resourceId, ...(answer !== null && { response: decrypt(answer) }) };
    },

    async createWith(query, { key, requestHash }, create) {
      const id = newId();
      await query(DELETE_EXPIRED, { key });
      // First the key, so that a second request waits here instead of creating in vain.
      await query(INSERT, { id, key, requestHash });
      const created = await create(query);
      const response = 'response' in created ? encrypt(created.response) : null;
      await query(COMPLETE, { id, resourceId: created.resourceId, response });
      return { keyId: id, created };
    },

    async keepResponse(query, id, response) {
      const [row] = await query(KEEP_RESPONSE, { id, response: encrypt(response) });
      return row?.answer ? decrypt(row.answer) : response;
    },
  };
}
