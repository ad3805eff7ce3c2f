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
