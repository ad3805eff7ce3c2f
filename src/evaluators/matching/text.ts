/** Longer outputs are not examined: 1 MiB in characters (UTF-16 code units), far above what models write. */
export const MAX_OUTPUT_LENGTH = 1_048_576;

/**
 * Cuts a text for a reason shown to people. The result is well-formed and free of NUL, neither of which PostgreSQL's
 * `text` and `jsonb` take.
 *
 * @param maxLength of the result, in characters, with the ellipsis
 */
export function shorten(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return cut.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** A text in quotes, short enough to stand inside a sentence. */
export function quote(text: string): string {
  return `"${shorten(text, 80)}"`;
}

/** Marks behind a letter that are put in order at most: it takes the square of their number (Unicode, UAX #15: Stream-Safe Text Format). */
const MAX_MARKS = 30;

/**
 * A text in Unicode's normal form C, so that a letter is the same whether its marks are part of it or follow it. A text in which more marks than
 * {@link MAX_MARKS} follow one another stays as it is.
 */
export function normalForm(text: string): string {
  for (const [marks] of text.matchAll(/\p{M}{2,}/gu)) if (marks.length > 2 * MAX_MARKS) return text;
  return text.normalize('NFC');
}

/**
 * A text as it is compared: in its normal form and, where case does not count, in full case folding. The dotted and the dotless `i` of Turkish, which
 * folding keeps apart, are then an `i`.
 */
export function comparable(text: string, { case_sensitive }: { case_sensitive: boolean }): string {
  const normal = normalForm(text);
  if (case_sensitive) return normal;
  // JavaScript has no case folding: what has the same upper case has the same folding. A sigma at the end of a word has a lower case of its own.
  const folded = normal.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');
  return normalForm(folded);
}

/**
 * The content of a text that is one Markdown code block and nothing else, such as models like to wrap JSON in; any other
 * text as it is. By hand, because an expression for this takes quadratic time on hostile texts.
 */
export function stripCodeFence(text: string): string {
  const trimmed = text.trim();
  const firstLineEnd = trimmed.indexOf('\n');
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || firstLineEnd === -1) return text;
  const infoString = trimmed.slice(3, firstLineEnd).trim();
  if (infoString.length > 32 || infoString.includes('`') || trimmed.length < firstLineEnd + 4) return text;
  return trimmed.slice(firstLineEnd + 1, -3);
}

/** Up to this product of the lengths the engine's own search is quick, whatever the texts: a few milliseconds. */
const MAX_NATIVE_SEARCH = 20_000_000;

/**
 * `text.includes(part)` in time linear in both lengths. The engine's own takes their product on texts that repeat
 * themselves: a second for a part of 9,000 characters in 1 MiB, in native code that no time limit can stop.
 */
export function includesText(text: string, part: string): boolean {
  if (part.length > text.length) return false;
  if (text.length * part.length <= MAX_NATIVE_SEARCH) return text.includes(part);
  const borders = bordersOf(part);
  let matched = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each prefix, the length of the longest shorter prefix that also ends it (Knuth, Morris and Pratt, 1977). */
function bordersOf(part: string): Uint32Array {
  const borders = new Uint32Array(part.length);
  let length = 0;
  for (let i = 1; i < part.length; i += 1) {
    const unit = part.charCodeAt(i);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === unit) length += 1;
    borders[i] = length;
  }
  return borders;
}
