/** Keys in the formats of providers, also truncated or masked as in "Incorrect API key provided: sk-ab***yz". */
const KEY_LIKE = /\b(?:sk-|pk-|gsk_|xai-|AIza|Bearer\s+)[\w*.-]{4,}/g;

/**
 * Creates a function that removes the given keys, anything that looks like a key, and the hosts of the given base URLs from a
 * text.
 */
export function createRedactor(
  keys: readonly (string | undefined)[],
  baseUrls: readonly string[],
): (text: string) => string {
  const secrets = keys.filter((key) => key !== undefined && key.length >= 4);
  const hosts = baseUrls.flatMap(hostPatterns);
  return (text) => {
    let redacted = text;
    for (const secret of secrets) redacted = redacted.replaceAll(secret ?? '', '[key]');
    redacted = redacted.replace(KEY_LIKE, '[key]');
    for (const host of hosts) redacted = redacted.replace(host, '[host]');
    return redacted;
  };
}

function hostPatterns(baseUrl: string): RegExp[] {
  if (!URL.canParse(baseUrl)) return [];
  const { host, hostname } = new URL(baseUrl);
  return [...new Set([host, hostname])].map((name) => new RegExp(`(?<![\\w.-])${escapePattern(name)}(?![\\w-])`, 'gi'));
}

/** Escapes the characters of a host that have a meaning in a pattern: dots and an IPv6 address's brackets. */
function escapePattern(host: string): string {
  return host.replace(/[.[\]]/g, '\\$&');
}
