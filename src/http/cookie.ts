/** Under https the prefix makes browsers refuse a cookie that another host or a page without TLS has set (RFC 6265bis). */
export const cookieName = (name: string, isHttps: boolean): string => (isHttps ? `__Host-${name}` : name);

/**
 * The header `Set-Cookie` of a cookie that no script reads, for all paths of this host.
 * @param name with the prefix that it has under https
 * @param maxAgeSeconds 0: the browser is to forget it
 */
export function cookieText(
  name: string,
  value: string,
  { maxAgeSeconds, sameSite, isHttps }: { maxAgeSeconds: number; sameSite: 'Lax' | 'Strict'; isHttps: boolean },
): string {
  const parts = [`${name}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', `SameSite=${sameSite}`];
  return [...parts, ...(isHttps ? ['Secure'] : [])].join('; ');
}
