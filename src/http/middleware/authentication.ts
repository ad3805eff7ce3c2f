import { isIP } from 'node:net';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../../domain/errors.ts';
import type { Authenticator } from '../../services/access/authenticate.ts';
import type { RateLimiter, RateLimitState } from '../../services/access/rate-limiter.ts';
import { addressGroup } from '../client-address.ts';
import type { AppState } from '../state.ts';

function setLimitHeaders(ctx: Context, state: RateLimitState): void {
  ctx.set('RateLimit-Limit', String(state.limit));
  ctx.set('RateLimit-Remaining', String(state.remaining));
  ctx.set('RateLimit-Reset', String(state.resetSeconds));
}

function tooMany(state: RateLimitState, message: string): ApiError {
  return new ApiError('rate_limited', message, { retryAfterSeconds: state.resetSeconds });
}

/** Who is counted. Behind a proxy the address is a header's text, which may be anything. */
function addressOf(ctx: Context): string {
  return addressGroup(isIP(ctx.ip) === 0 ? ctx.req.socket.remoteAddress : ctx.ip);
}

/**
 * Lets requests with a valid key through, within the key's limit. Failed tries are limited per address, and an address that has
 * used up its limit costs no look-up of a key: only keys that were valid when this process last saw them get through from there,
 * so that whoever shares an address with someone who guesses can go on working.
 */
export function authentication({
  authenticator,
  rateLimiter,
  failureLimiter,
}: {
  authenticator: Authenticator;
  rateLimiter: RateLimiter | undefined;
  failureLimiter: RateLimiter | undefined;
}): Middleware<AppState> {
  function refuse(ctx: Context, state: RateLimitState): never {
    setLimitHeaders(ctx, state);
    throw tooMany(state, 'Too many failed authentications from this address. Try again later.');
  }

  async function limitFailures(ctx: Context): Promise<void> {
    if (failureLimiter === undefined) return;
    const state = await failureLimiter.take(addressOf(ctx));
    setLimitHeaders(ctx, state);
    if (!state.allowed) refuse(ctx, state);
  }

  return async (ctx, next) => {
    const authorization = ctx.get('Authorization') || undefined;
    const exhausted = failureLimiter?.exhausted(addressOf(ctx));
    if (exhausted !== undefined && !authenticator.knows(authorization)) refuse(ctx, exhausted);
    try {
      ctx.state.key = await authenticator.authenticate(authorization);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthorized') await limitFailures(ctx);
      throw error;
    }
    if (rateLimiter !== undefined) {
      const state = await rateLimiter.take(ctx.state.key.id);
      setLimitHeaders(ctx, state);
      if (!state.allowed)
        throw tooMany(
          state,
          `This key has used up its ${state.limit} requests a minute. Try again in ${state.resetSeconds} s.`,
        );
    }
    await next();
  };
}
