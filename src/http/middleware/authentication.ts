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
  /** Of a holder, with all keys that were made from one another. */
  key: RateLimiter;
  /** Of a workspace, with all of its keys; undefined: no limit. */
  workspace: RateLimiter | undefined;
}

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
    // Keys that were made from one another share one limit: more of them are no more requests.
    const state = await rateLimiters.key.take(key.rootKeyId);
    // What a key is refused takes nothing from other keys of its workspace.
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
