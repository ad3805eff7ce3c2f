import { createHash } from 'node:crypto';
import type { Query, WorkspaceDatabase } from '../db/database.ts';
import { ApiError } from '../domain/errors.ts';
import type { Claim, Created, IdempotencyKeys, RequestKey } from '../services/idempotency/idempotency-keys.ts';
import type { RouteRequest } from './route.ts';

type Request = RouteRequest<unknown, unknown, unknown>;
type CreatedWithResponse = Created & { response: unknown };

/** Creates something at most once for each `Idempotency-Key`. */
export interface Idempotency extends Pick<IdempotencyKeys, 'claim'> {
  /**
   * For resources that are complete once stored.
   * @param create creates inside the given transaction
   * @throws ApiError `idempotency_key_reused`, `invalid_request`
   */
  createOnce(request: Request, create: (query: Query) => Promise<CreatedWithResponse>): Promise<unknown>;
  /**
   * The same for a response with a secret: only the API key that created it, or a session of that key, gets it again.
   * @throws ApiError as `createOnce`
   */
  createSecretOnce(request: Request, create: (query: Query) => Promise<CreatedWithResponse>): Promise<unknown>;
  /**
   * For work that starts once it is stored, after `claim`: stores the response for repeated requests. If the caller disconnected
   * before the end, none is stored: the next request with the key waits again.
   * @returns the response to send: the first one, if there is one already
   */
  remember(request: Request, claim: Claim, response: unknown): Promise<unknown>;
}

/** Also distinguishes requests of different API keys. */
const ownHashOf = ({ requestHash, key }: Request): Buffer =>
  createHash('sha256').update(requestHash).update(key.id).digest();

/**
 * The `Idempotency-Key` of a request.
 * @param options `hasSecret`: only the API key of the first request gets its response again
 * @throws ApiError `invalid_request`
 */
export function idempotencyKeyOf(request: Request, { hasSecret = false } = {}): RequestKey | undefined {
  const key = request.header('Idempotency-Key');
  if (key === undefined) return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ApiError('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  return { key, requestHash: hasSecret ? ownHashOf(request) : request.requestHash, hasSecret };
}

/**
 * The first response, if this request repeats an earlier one whose response is known. Sets a header that marks the repetition.
 * @returns undefined if there is no such response
 */
export function firstResponse(request: Request, claim: Claim): { response: unknown } | undefined {
  if (!claim.isReplay) return undefined;
  request.setHeader('Idempotent-Replayed', 'true');
  return 'response' in claim ? { response: claim.response } : undefined;
}

export function createIdempotency(keys: IdempotencyKeys): Idempotency {
  async function createOnce(
    request: Request,
    create: (query: Query) => Promise<CreatedWithResponse>,
    hasSecret: boolean,
  ): Promise<unknown> {
    const claim = await keys.claim(request.db, idempotencyKeyOf(request, { hasSecret }), async () => create);
    const first = firstResponse(request, claim);
    if (first === undefined && claim.isReplay) throw new Error('A response that was known at creation was not stored.');
    return claim.response;
  }

  return {
    claim: (db: WorkspaceDatabase, requestKey, prepare) => keys.claim(db, requestKey, prepare),
    createOnce: (request, create) => createOnce(request, create, false),
    createSecretOnce: (request, create) => createOnce(request, create, true),
    async remember({ db, signal }, { keyId }, response) {
      return keyId === undefined || signal.aborted ? response : keys.keepResponse(db.query, keyId, response);
    },
  };
}
