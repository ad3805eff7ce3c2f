import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../../domain/errors.ts';
import type { AuthenticatedKey } from '../../services/access/authenticate.ts';
import type { RateLimiter } from '../../services/access/rate-limiter.ts';
import { callerOf } from '../client-address.ts';
import { goneOf } from '../http-request.ts';
import { type LargeWork, takeStep } from '../large-work.ts';
import { setLimitHeaders, tooMany } from './authentication.ts';

/** Limits of requests that show a token in place of a key. */
export interface TokenLimiters {
  /** Of an address, whatever it shows. */
  address: RateLimiter;
  /** Of a token that is valid. */
  token: RateLimiter;
}

/**
 * Finds out whose workspace a token is of.
 * @throws ApiError `unauthorized`, the same whatever is wrong with the token; `rate_limited`
 */
export type IdentifyByToken = (
  ctx: Context,
  workspaceOf: (token: string) => string | undefined,
) => Promise<AuthenticatedKey>;

/** What every token gets that is not valid, or not any more. */
export const invalidToken = () => new ApiError('unauthorized', 'This token is not valid.');

/** The token of a request, as `Authorization: Bearer <token>`; empty where there is none. */
export const tokenIn = (authorization: string | undefined): string =>
  /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ?? '';

/** In place of a key, where there is none: it has no scopes. */
const nobodyIn = (workspaceId: string): AuthenticatedKey => ({
  id: '',
  rootKeyId: '',
  name: '',
  kind: 'service',
  workspaceId,
  workspaceName: '',
  scopes: [],
  memberId: null,
  sessionId: undefined,
});

/** Takes one request from a caller's limit. @throws ApiError `rate_limited` */
async function take(ctx: Context, limiter: Pick<RateLimiter, 'take'> | undefined, caller: string): Promise<void> {
  if (limiter === undefined) return;
  const state = await limiter.take(caller);
  setLimitHeaders(ctx, state);
  if (!state.allowed) throw tooMany(state, `Too many requests. Try again in ${state.resetSeconds} s.`);
}

/** Lets a request without a key through. @throws ApiError `rate_limited` */
export async function admitAnyone(
  ctx: Context,
  { anyoneLimiter, work }: { anyoneLimiter: RateLimiter | undefined; work: LargeWork },
): Promise<AuthenticatedKey> {
  await takeStep(work.turnsOfStrangers, callerOf(ctx), goneOf(ctx.res));
  await take(ctx, anyoneLimiter, callerOf(ctx));
  return nobodyIn('');
}

const API = /^\/(v1|mcp)(\/|$)/;

/** Requests outside of the API, in steps by address. Those of the API have turns and limits of their own. */
export function takeTurns({ turnsOfStrangers }: LargeWork): Middleware {
  return async (ctx, next) => {
    if (!API.test(ctx.path) || ctx.method === 'OPTIONS')
      await takeStep(turnsOfStrangers, callerOf(ctx), goneOf(ctx.res));
    await next();
  };
}

/** Requests outside of the API, within the limit of their address. */
export function limitPublic(limiter: Pick<RateLimiter, 'take'> | undefined): Middleware {
  return async (ctx, next) => {
    if (!API.test(ctx.path)) await take(ctx, limiter, callerOf(ctx));
    await next();
  };
}

export function createTokenCheck({
  tokenLimiters,
  work,
}: {
  tokenLimiters: TokenLimiters | undefined;
  work: LargeWork;
}): IdentifyByToken {
  return async (ctx, workspaceOf) => {
    await takeStep(work.turnsOfStrangers, callerOf(ctx), goneOf(ctx.res));
    await take(ctx, tokenLimiters?.address, callerOf(ctx));
    const token = tokenIn(ctx.get('Authorization'));
    const workspaceId = workspaceOf(token);
    if (workspaceId === undefined) throw invalidToken();
    await take(ctx, tokenLimiters?.token, createHash('sha256').update(token).digest('base64url'));
    return nobodyIn(workspaceId);
  };
}
