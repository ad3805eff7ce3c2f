/** Text that PostgreSQL and Temporal can keep: U+0000 and lone surrogates, which they refuse, become U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}
