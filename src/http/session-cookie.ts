import type { Context } from 'koa';
import { SESSION_MAX_MS } from '../services/access/sessions.ts';
import { cameByHttps } from './client-address.ts';
import { cookieName, cookieText } from './cookie.ts';

/** The session cookie. */
export const SESSION_COOKIE = 'pms_session';

/** The token that the browser sent. With HTTPS, a cookie without the prefix is ignored. */
export function readSessionCookie(ctx: Context): string | undefined {
  return ctx.cookies.get(cookieName(SESSION_COOKIE, cameByHttps(ctx.req, ctx.app.proxy)));
}

/**
 * The header `Set-Cookie`.
 * @param token null deletes the cookie
 */
export function sessionCookie(token: string | null, isHttps: boolean): string {
  const maxAgeSeconds = token === null ? 0 : SESSION_MAX_MS / 1000;
  const name = cookieName(SESSION_COOKIE, isHttps);
  return cookieText(name, token ?? '', { maxAgeSeconds, sameSite: 'Strict', isHttps });
}
