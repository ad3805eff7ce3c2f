import type { Context } from 'koa';
import { ApiError } from '../../domain/errors.ts';
import { createFairSemaphore } from '../../lib/fair-semaphore.ts';
import type { AuthenticatedKey, Authenticator, Credential } from '../../services/access/authenticate.ts';
import type { RateLimiter, RateLimitState } from '../../services/access/rate-limiter.ts';
import { addressGroup, callerAddress } from '../client-address.ts';

export function setLimitHeaders(ctx: Context, state: RateLimitState): void {
  ctx.set('RateLimit-Limit', String(state.limit));
  ctx.set('RateLimit-Remaining', String(state.remaining));
  ctx.set('RateLimit-Reset', String(state.resetSeconds));
}

export function tooMany(state: RateLimitState, message: string): ApiError {
  return new ApiError('rate_limited', message, { retryAfterSeconds: state.resetSeconds });
}

/** Who is counted. Behind a proxy the address is a header's text, which may be anything. */
const callerOf = (ctx: Context) => addressGroup(callerAddress(ctx));

/**
 * Finds out whose request it is.
 * @param credentialOf reads what the request shows; it may refuse it
 * @throws ApiError `unauthorized`, `rate_limited`
 */
export type Authenticate = (ctx: Context, credentialOf: () => Credential) => Promise<AuthenticatedKey>;

/** Look-ups at a time, in this process, for all addresses that have used up their limit; one address has half of them at most. */
const CHECKS = 4;
/** Requests of such an address that may wait for one. More are refused unseen. */
const WAITING_CHECKS = 100;

/**
 * Lets requests with a valid key or session through, within the key's limit. Failed tries are limited per address. What is valid
 * passes from an address that has used up its limit, too, so that whoever shares it with someone who guesses can go on working: what
 * this process knows passes at once, all else waits for its turn to be looked up. So guesses cost the database a few look-ups at a
 * time at most, however many there are, and nobody else's requests wait behind them.
 */
export function createAuthentication({
  authenticator,
  rateLimiter,
  failureLimiter,
}: {
  authenticator: Authenticator;
  rateLimiter: RateLimiter | undefined;
  failureLimiter: RateLimiter | undefined;
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
      if (exhausted === undefined || authenticator.knows(credential)) return await check();
      if (checks.waiting(caller) >= WAITING_CHECKS) refuse(ctx, exhausted);
      return await checks.run(caller, check);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') await limitFailures(ctx);
      throw error;
    }
  }

  return async (ctx, credentialOf) => {
    const key = await identify(ctx, credentialOf);
    if (rateLimiter !== undefined) {
      // Keys that were made from one another share one limit: more of them are no more requests.
      const state = await rateLimiter.take(key.rootKeyId);
      setLimitHeaders(ctx, state);
      if (!state.allowed)
        throw tooMany(
          state,
          `This key has used up its ${state.limit} requests a minute. Try again in ${state.resetSeconds} s.`,
        );
    }
    return key;
  };
}
