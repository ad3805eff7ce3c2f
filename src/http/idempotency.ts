import { createHash } from 'node:crypto';
import type { Query } from '../db/database.ts';
import { ApiError, temporarilyUnavailable } from '../domain/errors.ts';
import {
  type Created,
  type IdempotencyKeys,
  isKeyTaken,
  type UsedKey,
} from '../services/idempotency/idempotency-keys.ts';
import type { RouteRequest } from './route.ts';

type Request = RouteRequest<unknown, unknown, unknown>;

/** How a run is stored: in a transaction, or with one statement, which needs none where the request has no key. */
type StoreSteps<Stored> =
  | { store(query: Query): Promise<Stored> }
  | {
      /** Reads and checks. */
      prepare(query: Query): Promise<Stored>;
      /** Makes the one statement. @returns what is stored: something else, where what was prepared is out of date by then */
      insert(query: Query, prepared: Stored): Promise<Stored>;
    };

/** The steps of a creation that begins something once it is stored. */
export type Run<Stored> = StoreSteps<Stored> & {
  /** UUID of what is created: it is known beforehand, so that it can be withdrawn where nobody knows whether it was stored. */
  id: string;
  /** Begins what this request has stored. @returns the response */
  start(stored: Stored): Promise<unknown>;
  /** The response to a request that repeats an earlier one, which may not have come to `start`. */
  resume(id: string): Promise<unknown>;
  /** Whether the response shows a secret, which only the API key that has made the first request gets again. Default: no. */
  hasSecret?: boolean | undefined;
  /** Whether each request gets a response of its own, such as a stream: it is not kept. Default: no. */
  isLive?: boolean | undefined;
  /**
   * Makes sure, before the caller is told of a failure, that nothing happens later.
   * @param beganAt when the creation began (`performance.now()`), where `start` was called; else undefined
   */
  withdraw?(beganAt: number | undefined): Promise<void>;
};

/**
 * Creates something at most once per `Idempotency-Key`. The key's row and what it created are one transaction, so a process
 * that dies leaves both or neither, and of two requests at once one creates and the other gets the same response.
 */
export interface Idempotency {
  /**
   * For what is complete once it is stored.
   * @param create creates inside the transaction it is given
   * @throws ApiError `idempotency_key_reused`, `invalid_request`
   */
  createOnce(request: Request, create: (query: Query) => Promise<Created & { response: unknown }>): Promise<unknown>;
  /**
   * The same where the response shows a secret: only the API key that has created it, or a session of that key, gets it again.
   * @throws ApiError as `createOnce`
   */
  createSecretOnce(
    request: Request,
    create: (query: Query) => Promise<Created & { response: unknown }>,
  ): Promise<unknown>;
  /**
   * For what begins once it is stored, such as an execution.
   * @throws ApiError `idempotency_key_reused`, `invalid_request`
   */
  startOnce<Stored>(request: Request, run: Run<Stored>): Promise<unknown>;
}

const MAX_ATTEMPTS = 3;

/** @throws ApiError `invalid_request` */
function keyOf(request: Request): string | undefined {
  const key = request.header('Idempotency-Key');
  if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ApiError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  return key;
}

/** Tells requests of different API keys apart, too. */
const ownHashOf = ({ requestHash, key }: Request): Buffer =>
  createHash('sha256').update(requestHash).update(key.id).digest();

export function createIdempotency(keys: IdempotencyKeys): Idempotency {
  /**
   * Creates with the key, in one transaction, or finds what an earlier request created with it.
   * @throws ApiError `idempotency_key_reused`
   */
  async function createWithKey<C extends Created>(
    request: Request,
    { key, hasSecret }: { key: string; hasSecret: boolean },
    create: (query: Query) => Promise<C>,
  ): Promise<{ keyId: string; created: C } | { used: UsedKey }> {
    const { db } = request;
    const requestHash = hasSecret ? ownHashOf(request) : request.requestHash;
    for (let attempt = 1; ; attempt++) {
      const used = await keys.find(db.query, key);
      if (used !== undefined) {
        if (!used.requestHash.equals(requestHash))
          throw new ApiError(
            'idempotency_key_reused',
            `This Idempotency-Key was used for another request${hasSecret ? ', or by another API key: the secret is shown again only to the one that made it' : ''}. ` +
              'Use a new key, or repeat the first request unchanged.',
          );
        request.setHeader('Idempotent-Replayed', 'true');
        return { used };
      }
      try {
        return await db.transaction((query) => keys.createWith(query, { key, requestHash }, create));
      } catch (error) {
        if (!isKeyTaken(error)) throw error;
        // Another request was faster: its key is found next, unless that request had to withdraw what it created.
        if (attempt === MAX_ATTEMPTS)
          throw temporarilyUnavailable('Other requests with this Idempotency-Key keep failing.');
      }
    }
  }

  /** A caller who went away before the end has had no response: the next request with the key waits for it again. */
  async function keepResponse({ db, signal }: Request, keyId: string, response: unknown): Promise<unknown> {
    return signal.aborted ? response : keys.keepResponse(db.query, keyId, response);
  }

  async function createOnce(
    request: Request,
    create: (query: Query) => Promise<Created & { response: unknown }>,
    hasSecret: boolean,
  ): Promise<unknown> {
    const key = keyOf(request);
    if (key === undefined) return (await request.db.transaction(create)).response;
    const result = await createWithKey(request, { key, hasSecret }, create);
    const created = 'used' in result ? result.used : result.created;
    if (!('response' in created)) throw new Error('A response that was known at creation was not stored.');
    return created.response;
  }

  return {
    createOnce: (request, create) => createOnce(request, create, false),
    createSecretOnce: (request, create) => createOnce(request, create, true),

    async startOnce(request, run) {
      const key = keyOf(request);
      const { hasSecret = false } = run;
      const beganAt = performance.now();
      let mayBeStored = false;
      let isStartCalled = false;

      async function store(query: Query) {
        let stored = 'store' in run ? await run.store(query) : await run.prepare(query);
        // From here on a statement or the commit may have succeeded although its response was lost.
        mayBeStored = true;
        if ('insert' in run) stored = await run.insert(query, stored);
        return { resourceId: run.id, stored };
      }

      async function storeWithoutKey() {
        const { db } = request;
        return { created: await ('store' in run ? db.transaction(store) : store(db.query)), keyId: undefined };
      }

      try {
        const result =
          key === undefined ? await storeWithoutKey() : await createWithKey(request, { key, hasSecret }, store);
        if ('used' in result) {
          const { used } = result;
          if ('response' in used && !run.isLive) return used.response;
          const again = await run.resume(used.resourceId);
          return run.isLive ? again : await keepResponse(request, used.id, again);
        }
        isStartCalled = true;
        const response = await run.start(result.created.stored);
        return result.keyId === undefined || run.isLive
          ? response
          : await keepResponse(request, result.keyId, response);
      } catch (error) {
        if (mayBeStored) await run.withdraw?.(isStartCalled ? beganAt : undefined);
        throw error;
      }
    },
  };
}
