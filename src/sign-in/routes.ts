import type { Context, Middleware } from 'koa';
import { randomNonce, randomPKCECodeVerifier } from 'openid-client';
import { ApiError } from '../domain/errors.ts';
import { addressGroup, callerAddress, cameByHttps } from '../http/client-address.ts';
import { sessionCookie } from '../http/session-cookie.ts';
import type { RateLimiter } from '../services/access/rate-limiter.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { keepLogin, newState, takeLogin } from './login-cookie.ts';
import type { Caller } from './member-session.ts';
import { type SignInDeps, signInMember } from './sign-in.ts';
import { SignInError, type SignInProblem } from './sign-in-error.ts';

const MAX_CHARS = 2_000;
/** Characters that browsers interpret differently from servers: a backslash as a slash, tabs and line breaks as nothing. */
const MISLEADING = /[\\\s\p{Cc}]/u;

/**
 * The address that a browser opens after a sign-in.
 * @param given a path under `/console`. Default: `/console`
 * @returns undefined if it leads, or could lead, anywhere else
 */
function returnPath(given: string | undefined): string | undefined {
  if (given === undefined) return '/console';
  if (given.length > MAX_CHARS || MISLEADING.test(given) || !/^\/console(?:[/?#]|$)/.test(given)) return undefined;
  const origin = 'http://console.invalid';
  const url = URL.parse(given, origin);
  // Segments such as `..` are resolved by now, even if encoded.
  if (url?.origin !== origin || !/^\/console(?:\/|$)/.test(url.pathname) || url.pathname.startsWith('//'))
    return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}

export interface SignInRoutesDeps extends SignInDeps {
  /** Where browsers reach this service, without a trailing slash. */
  publicUrl: string;
  /** Per address; undefined for no limit. */
  limiter: RateLimiter | undefined;
  requireRoom: Caller['requireRoom'];
}

/** The problems shown on the sign-in page. */
const SHOWN: Partial<Record<SignInProblem, SignInProblem>> = { grant_ended: 'login_expired' };
const CONSOLE = '/console';

/** A parameter that occurs once; otherwise undefined. */
function only(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === 'string' ? value : undefined;
}

function toSignInPage(ctx: Context, problem: SignInProblem, returnTo: string, provider: string): void {
  const search = new URLSearchParams({ error: SHOWN[problem] ?? problem, provider });
  const to = returnTo.slice(CONSOLE.length);
  if (to !== '' && to !== '/') search.set('to', to);
  ctx.redirect(`${CONSOLE}/sign-in?${search.toString()}`);
}

/**
 * `/auth/login?provider=ID&return_to=/console/…` redirects to a provider, `/auth/callback/ID` back from it with a session, or to the
 * sign-in page with an error. Both are for browsers and always redirect.
 */
export function signInRoutes(deps: SignInRoutesDeps): Middleware {
  const { providers, cipher, publicUrl, limiter, requireRoom, log } = deps;
  const publicHost = URL.parse(publicUrl)?.host;

  async function requireTurn(ctx: Context): Promise<void> {
    const state = await limiter?.take(addressGroup(callerAddress(ctx)));
    if (state !== undefined && !state.allowed)
      throw new SignInError('too_many_tries', `an address has started more than ${state.limit} sign-ins in a minute`);
  }

  /** @throws SignInError */
  async function login(ctx: Context, provider: IdentityProvider, returnTo: string): Promise<void> {
    await requireTurn(ctx);
    const secrets = { state: newState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = await provider.loginUrl(secrets, { isSilent: only(ctx, 'silent') === '1' });
    keepLogin(ctx, cipher, { ...secrets, provider: provider.settings.id, returnTo });
    ctx.redirect(url.href);
  }

  /** @throws SignInError */
  async function finish(ctx: Context, provider: IdentityProvider): Promise<void> {
    const { id } = provider.settings;
    const login = takeLogin(ctx, cipher, only(ctx, 'state'));
    const fail = (error: unknown) => failed(ctx, error, login?.returnTo ?? CONSOLE, id);
    try {
      if (login === undefined) throw new SignInError('login_expired', 'this browser has no matching recent login');
      if (login.provider !== id)
        throw new SignInError(
          'invalid_response',
          `the login was started at ${login.provider}, but another provider responded`,
        );
      await requireTurn(ctx);
      const answer = await provider.finishLogin(new URLSearchParams(ctx.querystring), login);
      const { token } = await signInMember(deps, id, answer, {
        address: callerAddress(ctx) ?? 'unknown',
        userAgent: ctx.get('User-Agent') || undefined,
        requestId: ctx.state['requestId'],
        requireRoom,
      });
      ctx.append('Set-Cookie', sessionCookie(token, cameByHttps(ctx.req, ctx.app.proxy)));
      ctx.redirect(login.returnTo);
    } catch (error) {
      fail(error);
    }
  }

  /** @throws errors other than sign-in failures */
  function failed(ctx: Context, error: unknown, returnTo: string, provider: string): void {
    if (!(error instanceof SignInError)) throw error;
    const { problem } = error;
    const facts = { request_id: ctx.state['requestId'], provider, problem, reason: error.message };
    if (problem === 'provider_down' || problem === 'invalid_response') log.warn(facts, 'a sign-in has failed');
    else log.info(facts, 'a sign-in has failed');
    toSignInPage(ctx, problem, returnTo, provider);
  }

  /**
   * Whether the request came to the host to which the provider sends the browser back: the cookies of another host would not be there.
   */
  function ledToPublicHost(ctx: Context): boolean {
    if (ctx.host === publicHost || only(ctx, 'here') === '1') return false;
    ctx.redirect(`${publicUrl}/auth/login?${new URLSearchParams({ ...onlyTexts(ctx), here: '1' }).toString()}`);
    return true;
  }

  return async (ctx, next) => {
    if (!ctx.path.startsWith('/auth/')) return next();
    const callback = /^\/auth\/callback\/([a-z0-9-]{1,50})$/.exec(ctx.path)?.[1];
    const provider = providers.find(callback ?? only(ctx, 'provider') ?? '');
    if (callback === undefined && ctx.path !== '/auth/login') return next();
    if (ctx.method !== 'GET') throw new ApiError('invalid_request', `${ctx.method} is not supported here; use GET.`);
    if (provider === undefined)
      throw new ApiError('not_found', 'Unknown identity provider. Start at /console/sign-in.');
    if (callback !== undefined) return finish(ctx, provider);
    const returnTo = returnPath(only(ctx, 'return_to'));
    if (returnTo === undefined)
      throw new ApiError('invalid_request', '"return_to" must be a path of the console, such as /console/prompts.');
    if (ledToPublicHost(ctx)) return;
    try {
      await login(ctx, provider, returnTo);
    } catch (error) {
      failed(ctx, error, returnTo, provider.settings.id);
    }
  };
}

const onlyTexts = ({ query }: Context): Record<string, string> =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
