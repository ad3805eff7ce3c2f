const MAX_CHARS = 2_000;
/** Characters that browsers interpret differently from servers: a backslash as a slash, tabs and line breaks as nothing. */
const MISLEADING = /[\\\s\p{Cc}]/u;

/**
 * The address that a browser opens after a sign-in.
 * @param given a path under `/console`. Default: `/console`
 * @returns undefined if it leads, or could lead, anywhere else
 */
export function returnPath(given: string | undefined): string | undefined {
  if (given === undefined) return '/console';
  if (given.length > MAX_CHARS || MISLEADING.test(given) || !/^\/console(?:[/?#]|$)/.test(given)) return undefined;
  const origin = 'http://console.invalid';
  const url = URL.parse(given, origin);
  // Segments such as `..` are resolved by now, even if encoded.
  if (url?.origin !== origin || !/^\/console(?:\/|$)/.test(url.pathname) || url.pathname.startsWith('//'))
    return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}
