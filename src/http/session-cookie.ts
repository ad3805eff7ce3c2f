import type { Context } from 'koa';
import { SESSION_MAX_MS } from '../services/access/sessions.ts';
import { cameByHttps } from './client-address.ts';

/** The cookie of a session. */
export const SESSION_COOKIE = 'pms_session';

/** Under https the prefix makes browsers refuse a cookie that another host or a page without TLS has set (RFC 6265bis). */
const nameOf = (isHttps: boolean) => (isHttps ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE);

/** The token that the browser sent. Under https a cookie without the prefix is not looked at. */
export function readSessionCookie(ctx: Context): string | undefined {
  return ctx.cookies.get(nameOf(cameByHttps(ctx.req, ctx.app.proxy)));
}

/**
 * The header `Set-Cookie`.
 * @param token null: the browser is to forget the session
 */
export function sessionCookie(token: string | null, isHttps: boolean): string {
  const maxAgeSeconds = token === null ? 0 : SESSION_MAX_MS / 1000;
  const parts = [
    `${nameOf(isHttps)}=${token ?? ''}`,
    'Path=/',
    `Max-Age=${maxAgeSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return [...parts, ...(isHttps ? ['Secure'] : [])].join('; ');
}
