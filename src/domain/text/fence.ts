import { createHash } from 'node:crypto';

/**
 * The name of tags that enclose texts written by others in a prompt. It is derived from a hash of all these texts, so none of them
 * can contain its own end tag.
 */
export function fenceOf(prefix: string, texts: readonly string[]): string {
  const hash = createHash('sha256');
  // Lengths distinguish parts whose concatenation is the same.
  for (const text of texts) hash.update(`${text.length}:${text}\n`);
  return `${prefix}-${hash.digest('hex').slice(0, 24)}`;
}
