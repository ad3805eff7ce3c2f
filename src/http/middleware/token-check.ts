import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { ApiError } from '../../domain/errors.ts';
import type { AuthenticatedKey } from '../../services/access/authenticate.ts';
import type { RateLimiter } from '../../services/access/rate-limiter.ts';
import { callerOf } from '../client-address.ts';
import { goneOf } from '../http-request.ts';
import { type LargeWork, takeStep } from '../large-work.ts';
import { setLimitHeaders, tooMany } from './authentication.ts';

/** Limits of requests that use a token instead of a key. */
export interface TokenLimiters {
  /** Per address, whatever the token. */
  address: RateLimiter;
  /** Per valid token. */
  token: RateLimiter;
}

/**
 * Finds the workspace of a token.
 * @throws ApiError `unauthorized`, the same for any problem with the token; `rate_limited`
 */
export type IdentifyByToken = (
  ctx: Context,
  workspaceOf: (token: string) => string | undefined,
) => Promise<AuthenticatedKey>;

/** The error for every invalid or expired token. */
export const invalidToken = () => new ApiError('unauthorized', 'This token is not valid.');

/** The token in `Authorization: Bearer <token>`; empty if there is none. */
export const tokenIn = (authorization: string | undefined): string =>
  /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1] ?? '';

/** The placeholder for a request without a key: it has no scopes. */
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

/** Counts one request against a caller's limit. @throws ApiError `rate_limited` */
async function take(ctx: Context, limiter: Pick<RateLimiter, 'take'> | undefined, caller: string): Promise<void> {
  if (limiter === undefined) return;
  const state = await limiter.take(caller);
  setLimitHeaders(ctx, state);
  if (!state.allowed) throw tooMany(state, `Too many requests. Try again in ${state.resetSeconds} s.`);
}

/** Admits a request without a key. @throws ApiError `rate_limited` */
export async function admitAnyone(
  ctx: Context,
  { anyoneLimiter, work }: { anyoneLimiter: RateLimiter | undefined; work: LargeWork },
): Promise<AuthenticatedKey> {
  await takeStep(work.turnsOfStrangers, callerOf(ctx), goneOf(ctx.res));
  await take(ctx, anyoneLimiter, callerOf(ctx));
  return nobodyIn('');
}

const API = /^\/(v1|mcp)(\/|$)/;

/** Gives requests outside of the API turns per address. The API has its own turns and limits. */
export function takeTurns({ turnsOfStrangers }: LargeWork): Middleware {
  return async (ctx, next) => {
    if (!API.test(ctx.path) || ctx.method === 'OPTIONS')
      await takeStep(turnsOfStrangers, callerOf(ctx), goneOf(ctx.res));
    await next();
  };
}

/** Limits requests outside of the API per address. */
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
