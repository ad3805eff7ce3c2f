/** Longer outputs are not scored: 1 MiB in characters (UTF-16 code units), far above what models write. */
export const MAX_OUTPUT_LENGTH = 1_048_576;

/**
 * Truncates a text for a reason shown to people. The result is well-formed and free of NUL, as PostgreSQL's `text` and `jsonb`
 * require.
 *
 * @param maxLength of the result, in characters, including the ellipsis
 */
export function shorten(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return cut.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Quotes a text, shortened for use inside a sentence. */
export function quote(text: string): string {
  return `"${shorten(text, 80)}"`;
}

/**
 * Maximum number of combining marks after a letter that are normalized, which takes quadratic time (Unicode, UAX #15: Stream-Safe Text
 * Format).
 */
const MAX_MARKS = 30;

/**
 * A text in Unicode's normal form C, so that composed and decomposed letters are equal. A text with more than {@link MAX_MARKS}
 * consecutive marks is returned unchanged.
 */
export function normalForm(text: string): string {
  for (const [marks] of text.matchAll(/\p{M}{2,}/gu)) if (marks.length > 2 * MAX_MARKS) return text;
  return text.normalize('NFC');
}

/**
 * The form of a text for comparison: normalized and, if case-insensitive, in full case folding. The dotted and dotless `i` of Turkish,
 * which folding keeps apart, both become `i`.
 */
export function comparable(text: string, { case_sensitive }: { case_sensitive: boolean }): string {
  const normal = normalForm(text);
  if (case_sensitive) return normal;
  // JavaScript has no case folding: texts with the same upper case have the same folding. A final sigma has its own lower case.
  const folded = normal.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').replaceAll('i\u0307', 'i');
  return normalForm(folded);
}

/**
 * Strips the fence from a text that is a single Markdown code block, in which models like to wrap JSON; returns any other text
 * unchanged. Without a regular expression, which would take quadratic time on hostile texts.
 */
export function stripCodeFence(text: string): string {
  const trimmed = text.trim();
  const firstLineEnd = trimmed.indexOf('\n');
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```') || firstLineEnd === -1) return text;
  const infoString = trimmed.slice(3, firstLineEnd).trim();
  if (infoString.length > 32 || infoString.includes('`') || trimmed.length < firstLineEnd + 4) return text;
  return trimmed.slice(firstLineEnd + 1, -3);
}

/** Up to this product of the lengths, the engine's own search takes a few milliseconds for any texts. */
const MAX_NATIVE_SEARCH = 20_000_000;

/**
 * `text.includes(part)` in time linear in both lengths. The engine's own search takes their product for repetitive texts: a
 * second for a part of 9,000 characters in 1 MiB, in native code that no time limit can stop.
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

/** For each prefix, the length of its longest proper prefix that is also its suffix (Knuth, Morris and Pratt, 1977). */
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
