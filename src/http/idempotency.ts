import type { Query } from '../db/database.ts';
import { isUniqueViolation } from '../db/errors.ts';
import type { Cipher } from '../domain/cipher.ts';
import { ApiError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { IDEMPOTENCY_HOURS } from '../domain/limits.ts';
import type { RouteRequest } from './route.ts';

/** What a creation gives: the id of what there is now, and the answer where it is known already. */
export interface Created {
  resourceId: string;
  answer?: unknown;
}

type Request = RouteRequest<unknown, unknown, unknown>;

interface KeyRow {
  id: string;
  request_hash: Buffer;
  resource_id: string;
  answer: Buffer | null;
}

const KEY_CONSTRAINT = 'idempotency_keys_workspace_id_key_unique';
const MAX_ATTEMPTS = 3;
const RETRY_AFTER_SECONDS = 5;

const FIND_KEY = {
  text: `select id, request_hash, resource_id, answer from idempotency_keys
         where workspace_id = $1 and key = $2 and created_at > now() - interval '${IDEMPOTENCY_HOURS} hours'`,
};
const DELETE_EXPIRED = {
  text: `delete from idempotency_keys
         where workspace_id = $1 and key = $2 and created_at <= now() - interval '${IDEMPOTENCY_HOURS} hours'`,
};
/** Waits for a transaction at work on the same key, then fails if that one committed. */
const INSERT_KEY = {
  text: `insert into idempotency_keys (workspace_id, id, key, request_hash, resource_id, answer, created_at)
         values ($1, $2, $3, $4, $5, $6, now())`,
};
const COMPLETE_KEY = {
  text: 'update idempotency_keys set resource_id = $3, answer = $4 where workspace_id = $1 and id = $2',
};
/** The first answer stays. */
const STORE_ANSWER = {
  text: `update idempotency_keys set answer = coalesce(answer, $3) where workspace_id = $1 and id = $2 returning answer`,
};

/**
 * Creates something at most once per `Idempotency-Key`. The key's row and what it created are one transaction, so a process
 * that dies leaves both or neither, and of two requests at once one creates and the other is answered like it.
 */
export interface Idempotency {
  /**
   * @param create creates inside the transaction it is given
   * @param answerOf the answer for what was created, where `create` could not know it yet
   * @param options `single`: `create` writes with one statement only
   * @throws ApiError `idempotency_key_reused`, `invalid_request`
   */
  createOnce(
    request: Request,
    create: (query: Query) => Promise<Created>,
    answerOf?: (resourceId: string) => Promise<unknown>,
    options?: { single: boolean },
  ): Promise<unknown>;
}

export function createIdempotency(cipher: Cipher): Idempotency {
  const seal = (answer: unknown) => cipher.encrypt(Buffer.from(JSON.stringify(answer)));
  const unseal = (answer: Buffer): unknown => JSON.parse(cipher.decrypt(answer).toString());

  async function replay(
    request: Request,
    row: KeyRow,
    answerOf: ((resourceId: string) => Promise<unknown>) | undefined,
  ): Promise<unknown> {
    if (!row.request_hash.equals(request.requestHash))
      throw new ApiError(
        'idempotency_key_reused',
        'This Idempotency-Key was used for another request. Use a new key, or repeat the first request unchanged.',
      );
    request.setHeader('Idempotent-Replayed', 'true');
    if (row.answer !== null) return unseal(row.answer);
    if (answerOf === undefined) throw new Error('An answer that was known at creation was not stored.');
    return firstAnswer(request, row.id, await answerOf(row.resource_id));
  }

  async function firstAnswer({ db, signal }: Request, id: string, answer: unknown): Promise<unknown> {
    // A caller who went away before the end has had no answer: the next try waits for it again.
    if (signal.aborted) return answer;
    const [row] = await db.query<{ answer: Buffer }>(STORE_ANSWER, [id, seal(answer)]);
    return row ? unseal(row.answer) : answer;
  }

  /** The key and what is created, in one transaction. */
  function createWithKey(
    request: Request,
    { id, key }: { id: string; key: string },
    create: (query: Query) => Promise<Created>,
  ): Promise<Created> {
    return request.db.transaction(async (query) => {
      await query(DELETE_EXPIRED, [key]);
      // First the key, so that a second request waits here instead of creating in vain.
      await query(INSERT_KEY, [id, key, request.requestHash, '', null]);
      const created = await create(query);
      await query(COMPLETE_KEY, [id, created.resourceId, 'answer' in created ? seal(created.answer) : null]);
      return created;
    });
  }

  return {
    async createOnce(request, create, answerOf, { single } = { single: false }) {
      const key = request.header('Idempotency-Key');
      if (key === undefined) {
        // One statement needs no transaction around it.
        const created = await (single ? create(request.db.query) : request.db.transaction(create));
        return 'answer' in created ? created.answer : answerOf?.(created.resourceId);
      }
      if (!/^[\x21-\x7e]{1,255}$/.test(key))
        throw new ApiError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
      for (let attempt = 1; ; attempt++) {
        const [known] = await request.db.query<KeyRow>(FIND_KEY, [key]);
        if (known) return replay(request, known, answerOf);
        const id = newId();
        try {
          const created = await createWithKey(request, { id, key }, create);
          if ('answer' in created) return created.answer;
          return await firstAnswer(request, id, await answerOf?.(created.resourceId));
        } catch (error) {
          if (!isUniqueViolation(error, KEY_CONSTRAINT)) throw error;
          // Another request was faster: its answer is ours, unless it had to take back what it created and the key is free again.
          if (attempt === MAX_ATTEMPTS)
            throw new ApiError('temporarily_unavailable', 'Other requests with this Idempotency-Key keep failing.', {
              retryAfterSeconds: RETRY_AFTER_SECONDS,
            });
        }
      }
    },
  };
}
