const MAX_CHARS = 2_000;
/** What browsers read otherwise than servers: a backslash as a slash, a tab or line break as nothing. */
const MISLEADING = /[\\\s\p{Cc}]/u;

/**
 * Where a browser goes after a sign-in.
 * @param given a path under `/console`. Default: `/console`
 * @returns undefined where it leads, or could lead, anywhere else
 */
export function returnPath(given: string | undefined): string | undefined {
  if (given === undefined) return '/console';
  if (given.length > MAX_CHARS || MISLEADING.test(given) || !/^\/console(?:[/?#]|$)/.test(given)) return undefined;
  const origin = 'http://console.invalid';
  const url = URL.parse(given, origin);
  // Segments such as `..` are gone by now, also where they are encoded.
  if (url?.origin !== origin || !/^\/console(?:\/|$)/.test(url.pathname) || url.pathname.startsWith('//'))
    return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}
