import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { now } from '../../db/sql.ts';
import { prepared } from '../../db/statement.ts';
import type { Cipher } from '../../domain/cipher.ts';
import { ApiError, temporarilyUnavailable } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import { IDEMPOTENCY_HOURS } from '../../domain/limits.ts';
import { JsonText, stringifyJson } from '../../domain/text/json-text.ts';

/** The `Idempotency-Key` of a request. */
export interface RequestKey {
  key: string;
  /** Shows whether a request with the same key is the same request. */
  requestHash: Buffer;
  /** Whether the response contains a secret: `requestHash` then differs for each API key. */
  hasSecret: boolean;
}

/** What a request created, and the response if it is already known. */
export interface Created {
  resourceId: string;
  response?: unknown;
}

/** What was created with a key, by this request or an earlier one. */
export interface Claim extends Created {
  /** UUID of the key's row; undefined if the request has no key. */
  keyId: string | undefined;
  /** Whether an earlier request created it; `response` is then the first response, if known. */
  isReplay: boolean;
}

/**
 * Idempotency keys of a workspace. A key's row and the resource created with it are stored in one transaction, so a process that
 * dies leaves both or neither. Responses are encrypted, because they may contain a secret.
 */
export interface IdempotencyKeys {
  /**
   * Creates something in a transaction, once for each key: of two concurrent requests one creates it, and the other finds it.
   * @param prepare checks what takes long or may have been deleted since the first request, and returns what the transaction runs.
   * It is not called for a key that was used before.
   * @throws ApiError `idempotency_key_reused`, `temporarily_unavailable`, and as `prepare`
   */
  claim<C extends Created>(
    db: WorkspaceDatabase,
    requestKey: RequestKey | undefined,
    prepare: () => Promise<(query: Query) => Promise<C>>,
  ): Promise<Claim>;
  /** Stores the response unless there is one. @returns the stored response; the given one if the key is gone */
  keepResponse(query: Query, keyId: string, response: unknown): Promise<unknown>;
}

const MAX_ATTEMPTS = 3;

/** Keys used before this time are forgotten. */
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

const isKeyTaken = (error: unknown) => isUniqueViolation(error, 'idempotency_keys_workspace_id_key_unique');

export function createIdempotencyKeys(cipher: Cipher): IdempotencyKeys {
  const encrypt = (response: unknown) => cipher.encrypt(Buffer.from(stringifyJson(response)));
  const decrypt = (response: Buffer) => new JsonText(cipher.decrypt(response).toString());

  /** @throws ApiError `idempotency_key_reused` */
  async function find(query: Query, { key, requestHash, hasSecret }: RequestKey): Promise<Claim | undefined> {
    const [row] = await query(FIND, { key });
    if (row === undefined) return undefined;
    if (!row.request_hash.equals(requestHash))
      throw new ApiError(
        'idempotency_key_reused',
        `This Idempotency-Key was used for another request${hasSecret ? ', or by another API key: the secret is shown again only to the one that made it' : ''}. ` +
          'Use a new key, or repeat the first request unchanged.',
      );
    const { id: keyId, resource_id: resourceId, answer } = row;
    return { keyId, resourceId, isReplay: true, ...(answer !== null && { response: decrypt(answer) }) };
  }

  async function create<C extends Created>(
    query: Query,
    { key, requestHash }: RequestKey,
    createResource: (query: Query) => Promise<C>,
  ): Promise<Claim> {
    const keyId = newId();
    await query(DELETE_EXPIRED, { key });
    // The key comes first, so that a second request waits here instead of creating something in vain.
    await query(INSERT, { id: keyId, key, requestHash });
    const created = await createResource(query);
    const response = 'response' in created ? encrypt(created.response) : null;
    await query(COMPLETE, { id: keyId, resourceId: created.resourceId, response });
    return { ...created, keyId, isReplay: false };
  }

  return {
    async claim(db, requestKey, prepare) {
      if (requestKey === undefined)
        return { ...(await db.transaction(await prepare())), keyId: undefined, isReplay: false };
      let createResource: Awaited<ReturnType<typeof prepare>> | undefined;
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const earlier = await find(db.query, requestKey);
        if (earlier !== undefined) return earlier;
        createResource ??= await prepare();
        const prepared = createResource;
        try {
          return await db.transaction((query) => create(query, requestKey, prepared));
        } catch (error) {
          // A concurrent request was faster: its key is found next, unless that request had to withdraw what it created.
          if (!isKeyTaken(error)) throw error;
        }
      }
      throw temporarilyUnavailable('Concurrent requests with this Idempotency-Key keep failing.');
    },

    async keepResponse(query, id, response) {
      const [row] = await query(KEEP_RESPONSE, { id, response: encrypt(response) });
      return row?.answer ? decrypt(row.answer) : response;
    },
  };
}
