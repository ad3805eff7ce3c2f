import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createCipher } from '../domain/cipher.ts';
import { cameByHttps } from '../http/client-address.ts';
import { cookieName, cookieText } from '../http/cookie.ts';

const COOKIE = 'pms_codec';
const PURPOSE = 'codec server';
/** A day of work, after which a person must enter the token again. */
const SESSION_SECONDS = 12 * 60 * 60;

/**
 * Controls who can have payloads decoded: programs send the token; people enter it once, for a cookie that their browser sends with the
 * requests of Temporal's UI.
 */
export interface Access {
  isToken(text: string): boolean;
  isAllowed(request: IncomingMessage): boolean;
  /** `Set-Cookie` for a caller who has sent the token. */
  cookieFor(request: IncomingMessage): string;
}

const digestOf = (text: string) => createHash('sha256').update(text).digest();

/**
 * @param trustProxy whether to trust `X-Forwarded-Proto`
 * @param now in milliseconds. Default: the system clock
 */
export function createAccess(token: string, trustProxy: boolean, now: () => number = Date.now): Access {
  const expected = digestOf(token);
  // Another token ends all sessions.
  const cipher = createCipher([expected]);
  const nameFor = (request: IncomingMessage) => cookieName(COOKIE, cameByHttps(request, trustProxy));

  const isToken = (text: string) => timingSafeEqual(digestOf(text), expected);

  function isSession(value: string): boolean {
    const [until = '', signature = ''] = value.split('.');
    const isSigned = cipher.hasSigned(PURPOSE, Buffer.from(until), Buffer.from(signature, 'base64url'));
    return isSigned && Number(until) > now();
  }

  return {
    isToken,
    isAllowed(request) {
      const { authorization = '', cookie = '' } = request.headers;
      const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
      if (bearer !== undefined && isToken(bearer)) return true;
      const name = `${nameFor(request)}=`;
      const own = cookie.split('; ').find((each) => each.startsWith(name));
      return own !== undefined && isSession(own.slice(name.length));
    },
    cookieFor(request) {
      const until = String(now() + SESSION_SECONDS * 1_000);
      const value = `${until}.${cipher.sign(PURPOSE, Buffer.from(until)).toString('base64url')}`;
      const isHttps = cameByHttps(request, trustProxy);
      return cookieText(nameFor(request), value, { maxAgeSeconds: SESSION_SECONDS, sameSite: 'Strict', isHttps });
    },
  };
}
