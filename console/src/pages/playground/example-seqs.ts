/** Writes positions in a dataset as a short text: `0-9,12`. */
export function writeSeqs(seqs: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < seqs.length; ) {
    let end = at;
    while (seqs[end + 1] === (seqs[end] ?? 0) + 1) end++;
    parts.push(end === at ? `${seqs[at]}` : `${seqs[at]}-${seqs[end]}`);
    at = end + 1;
  }
  return parts.join(',');
}

/** Maximum size of a range: a playground has fewer rows. */
const MOST = 1_000;

/** Parses a text of {@link writeSeqs}, ignoring invalid parts. */
export const readSeqs = (text: string): number[] =>
  text.split(',').flatMap((part) => {
    const [, from, to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part.trim()) ?? [];
    if (from === undefined) return [];
    const count = Math.min(MOST, Number(to) - Number(from) + 1);
    return Array.from({ length: Math.max(0, count) }, (_, index) => Number(from) + index);
  });
