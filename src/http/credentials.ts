import type { Context } from 'koa';
import { ApiError } from '../domain/errors.ts';
import type { Credential } from '../services/access/authenticate.ts';
import { isToken } from '../services/access/sessions.ts';
import { cameByHttps } from './client-address.ts';
import { readSessionCookie } from './session-cookie.ts';

/** A header that no form can send, and no page of another origin without a preflight. */
export const CONSOLE_HEADER = 'X-Console';

const unauthorized = (message: string) => new ApiError('unauthorized', message);

/**
 * The credential in the request: a key in `Authorization`, otherwise a session cookie. A browser sends the cookie with every request
 * of a page of this service, even if the page sends a key, as the API documentation does: the key then wins. A change with a session
 * must come from a page of this service.
 * @param byPassword whether a key can be the password of Basic authentication
 * @throws ApiError `unauthorized`
 */
export function credentialOf(ctx: Context, byPassword = false): Credential {
  const authorization = ctx.get('Authorization');
  const password = byPassword ? passwordIn(authorization) : undefined;
  if (password !== undefined) return { kind: 'key', token: password };
  const token = readSessionCookie(ctx);
  if (token === undefined || authorization !== '') return bearerIn(ctx);
  if (!isToken(token)) throw unauthorized('The cookie has no valid session. Sign in again.');
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
    if (ctx.get(CONSOLE_HEADER) !== '1')
      throw unauthorized(`Changes with a session require the header "${CONSOLE_HEADER}: 1".`);
    if (originOf(ctx) !== 'own')
      throw unauthorized(
        'Changes with a session must come from a page of this service: send "Sec-Fetch-Site: same-origin" or its Origin.',
      );
  }
  return { kind: 'session', token };
}

/** The password of Basic authentication (RFC 7617), for any user. @returns undefined if there is none that could be a key */
function passwordIn(authorization: string): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/=_-]{1,1000})$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  return /^[^:]*:([\x21-\x7e]{1,255})$/.exec(Buffer.from(encoded, 'base64').toString('latin1'))?.[1];
}

/** Selects the workspace if an access token is valid for several. */
const WORKSPACE_HEADER = 'X-Workspace';

/**
 * An access token is a JSON Web Token: three parts, the first of which begins with `{"`. Keys of this service never look like that.
 */
function accessTokenIn(ctx: Context, authorization: string): Credential | undefined {
  const token = /^Bearer +(eyJ[\w-]{1,4000}\.[\w-]{1,12000}\.[\w-]{0,2000})$/i.exec(authorization)?.[1];
  if (token === undefined) return undefined;
  return { kind: 'access_token', token, workspace: ctx.get(WORKSPACE_HEADER) || undefined };
}

/** The credential in `Authorization`: a key, or an access token of an identity provider. @throws ApiError `unauthorized` */
export function bearerIn(ctx: Context): Credential {
  const authorization = ctx.get('Authorization');
  return accessTokenIn(ctx, authorization) ?? keyIn(authorization);
}

/** @throws ApiError `unauthorized` */
function keyIn(authorization: string): Credential {
  if (authorization === '') throw unauthorized('Send the header "Authorization: Bearer <API_KEY>".');
  const token = /^Bearer +([\x21-\x7e]{1,255})$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('The Authorization header must read "Bearer <API_KEY>".');
  return { kind: 'key', token };
}

/**
 * Prevents pages of other origins from signing a browser in. Clients other than browsers send neither header.
 * @throws ApiError `unauthorized`
 */
export function refuseOtherOrigins(ctx: Context): void {
  if (originOf(ctx) === 'other') throw unauthorized('Sign in from a page of this service.');
}

/**
 * The origin of the page that made a request, according to the browser. `Sec-Fetch-Site` takes precedence if present: no page
 * can set it.
 */
export function originOf(ctx: Context): 'own' | 'other' | 'unknown' {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' ? 'own' : 'other';
  const origin = ctx.get('Origin');
  if (origin === '') return 'unknown';
  const own = URL.parse(`${cameByHttps(ctx.req, ctx.app.proxy) ? 'https' : 'http'}://${ctx.host}`)?.origin;
  return origin === own ? 'own' : 'other';
}
