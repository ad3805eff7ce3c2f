import type { Context } from 'koa';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { AuthenticatedKey, Authenticator, Credential } from '../../services/access/authenticate.ts';
import type { RateLimiter, RateLimitState } from '../../services/access/rate-limiter.ts';
import { callerOf } from '../client-address.ts';
import { goneOf } from '../http-request.ts';
import { type LargeWork, takeStep } from '../large-work.ts';

export function setLimitHeaders(ctx: Context, state: RateLimitState): void {
  ctx.set('RateLimit-Limit', String(state.limit));
  ctx.set('RateLimit-Remaining', String(state.remaining));
  ctx.set('RateLimit-Reset', String(state.resetSeconds));
}

export function tooMany(state: RateLimitState, message: string): ApiError {
  return new ApiError('rate_limited', message, { retryAfterSeconds: state.resetSeconds });
}

/** Limits of requests with a key. */
export interface RateLimiters {
  /** Per holder, for all keys created from one another. */
  key: RateLimiter;
  /** Per workspace, for all of its keys; undefined for no limit. */
  workspace: RateLimiter | undefined;
}

/**
 * Authenticates a request.
 * @param credentialOf reads the credential; it can reject the request
 * @throws ApiError `unauthorized`, `rate_limited`
 */
export type Authenticate = (ctx: Context, credentialOf: () => Credential) => Promise<AuthenticatedKey>;

/** Concurrent lookups in this process for all addresses that have used up their limit; one address gets at most half of them. */
const CHECKS = 4;
/** Queued requests of such addresses. Further ones are rejected without a lookup. */
const WAITING_CHECKS = 100;

/**
 * Accepts requests with a valid key or session, within the key's limit. Failed attempts are limited per address. Valid credentials
 * also work from an address that has used up its limit, so that people who share it with a guesser can continue: cached credentials
 * pass immediately, others wait for a lookup. So guesses cause only a few concurrent lookups, however many there are, and do not
 * delay other requests.
 */
export function createAuthentication({
  authenticator,
  rateLimiters,
  failureLimiter,
  work,
}: {
  authenticator: Authenticator;
  rateLimiters: RateLimiters | undefined;
  failureLimiter: RateLimiter | undefined;
  work: LargeWork;
}): Authenticate {
  function refuse(ctx: Context, state: RateLimitState): never {
    setLimitHeaders(ctx, state);
    throw tooMany(state, 'Too many failed authentications from this address. Try again later.');
  }

  const checks = createFairSemaphore({ total: CHECKS });

  async function limitFailures(ctx: Context): Promise<void> {
    if (failureLimiter === undefined) return;
    const state = await failureLimiter.take(callerOf(ctx));
    setLimitHeaders(ctx, state);
    if (!state.allowed) refuse(ctx, state);
  }

  async function identify(ctx: Context, credentialOf: () => Credential): Promise<AuthenticatedKey> {
    const caller = callerOf(ctx);
    const exhausted = failureLimiter?.exhausted(caller);
    try {
      const credential = credentialOf();
      const check = async () => {
        const key = await authenticator.authenticate(credential);
        ctx.state['credential'] = credential;
        return key;
      };
      if (authenticator.knows(credential)) return await check();
      await takeStep(work.turnsOfStrangers, caller, goneOf(ctx.res));
      if (exhausted === undefined) return await check();
      if (checks.waiting(caller) >= WAITING_CHECKS) refuse(ctx, exhausted);
      return await checks.run(caller, check);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') {
        await takeStep(work.turnsOfStrangers, caller, goneOf(ctx.res));
        await limitFailures(ctx);
      }
      throw error;
    }
  }

  return async (ctx, credentialOf) => {
    const key = await identify(ctx, credentialOf);
    await takeStep(work.turns, publicId('workspace', key.workspaceId), goneOf(ctx.res));
    if (rateLimiters === undefined) return key;
    // Keys created from one another share one limit, so more keys do not allow more requests.
    const state = await rateLimiters.key.take(key.rootKeyId);
    // A request rejected for its key does not count for its workspace.
    const ofAll = state.allowed ? await rateLimiters.workspace?.take(key.workspaceId) : undefined;
    const least = ofAll?.allowed === false ? ofAll : state;
    setLimitHeaders(ctx, least);
    if (!least.allowed)
      throw tooMany(
        least,
        `This ${least === state ? 'key' : 'workspace'} has used up its ${least.limit} requests a minute. Try again in ${least.resetSeconds} s.`,
      );
    return key;
  };
}
