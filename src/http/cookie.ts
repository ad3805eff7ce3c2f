/** With HTTPS, the prefix makes browsers reject a cookie set by another host or by a page without TLS (RFC 6265bis). */
export const cookieName = (name: string, isHttps: boolean): string => (isHttps ? `__Host-${name}` : name);

/**
 * The header `Set-Cookie` of an HttpOnly cookie for all paths of this host.
 * @param name including its HTTPS prefix
 * @param maxAgeSeconds 0 deletes the cookie
 */
export function cookieText(
  name: string,
  value: string,
  { maxAgeSeconds, sameSite, isHttps }: { maxAgeSeconds: number; sameSite: 'Lax' | 'Strict'; isHttps: boolean },
): string {
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', `SameSite=${sameSite}`];
  return [...parts, ...(isHttps ? ['Secure'] : [])].join('; ');
}
