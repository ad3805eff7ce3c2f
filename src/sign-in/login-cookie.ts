import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Cipher } from '../domain/cipher.ts';
import { cameByHttps } from '../http/client-address.ts';
import { cookieName, cookieText } from '../http/cookie.ts';

/** Maximum duration of a login at the provider. */
export const LOGIN_MS = 10 * 60_000;
/** Maximum concurrent logins of one browser, in separate tabs. A further one drops the others, so that requests stay small. */
const MAX_LOGINS = 8;

const Login = z.strictObject({
  purpose: z.literal('login'),
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  begunAt: z.number(),
});
/** A login in progress. Only the browser that started it has it, encrypted. */
export type Login = z.output<typeof Login>;

const ID_CHARS = 16;
const STATE = /^[\w-]{38}$/;
const COOKIE = /(?:^|;\s*)((?:__Host-)?pms_login_[\w-]{16})=/g;

/** The first part of a login's state names its cookie, so that logins in several tabs do not collide. */
export const newState = () => randomBytes(12).toString('base64url') + randomBytes(16).toString('base64url');

const isHttps = (ctx: Context) => cameByHttps(ctx.req, ctx.app.proxy);
const nameOf = (ctx: Context, state: string) => cookieName(`pms_login_${state.slice(0, ID_CHARS)}`, isHttps(ctx));

/** `SameSite=Lax`: the browser must send it when the provider's page redirects back. */
function setCookie(ctx: Context, name: string, value: string, maxAgeMs: number): void {
  const options = { maxAgeSeconds: maxAgeMs / 1000, sameSite: 'Lax', isHttps: isHttps(ctx) } as const;
  ctx.append('Set-Cookie', cookieText(name, value, options));
}

export function keepLogin(ctx: Context, cipher: Cipher, login: Omit<Login, 'purpose' | 'begunAt'>): void {
  const begun = [...ctx.get('Cookie').matchAll(COOKIE)].map(([, name = '']) => name);
  if (begun.length >= MAX_LOGINS) for (const name of new Set(begun)) setCookie(ctx, name, '', 0);
  const text = JSON.stringify({ ...login, purpose: 'login', begunAt: Date.now() } satisfies Login);
  setCookie(ctx, nameOf(ctx, login.state), cipher.encrypt(Buffer.from(text)).toString('base64url'), LOGIN_MS);
}

/** Returns the login of a state, and deletes its cookie. Undefined if this browser has not started one recently. */
export function takeLogin(ctx: Context, cipher: Cipher, state: unknown): Login | undefined {
  if (typeof state !== 'string' || !STATE.test(state)) return undefined;
  const name = nameOf(ctx, state);
  const value = ctx.cookies.get(name);
  if (value === undefined) return undefined;
  setCookie(ctx, name, '', 0);
  let login: Login | undefined;
  try {
    login = Login.safeParse(JSON.parse(cipher.decrypt(Buffer.from(value, 'base64url')).toString())).data;
  } catch {
    // It was modified, or encrypted with a key that is gone.
    return undefined;
  }
  return login?.state === state && Date.now() - login.begunAt < LOGIN_MS ? login : undefined;
}
