const CLOSING: Record<string, string> = { '(': ')', '[': ']' };

/** A quoted text or name, whatever is in it. An escape string (`E'…'`) and a dollar quote end by other rules: they are refused. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/y;

/**
 * Whether raw SQL is a whole by itself: it closes each parenthesis, bracket and quote that it opens and no other, and has no comment
 * and no end of a statement. So it can't end the parentheses that are put around it, nor hide what comes behind it.
 * @param fragments the text between its parameters
 */
export function isWholeSql(fragments: readonly string[]): boolean {
  // A parameter becomes a placeholder, or SQL that is a whole itself; it can't stand inside quotes.
  const text = fragments.join(' ? ');
  const open: string[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === "'" || character === '"') {
      QUOTED.lastIndex = at;
      const [quoted] = QUOTED.exec(text) ?? [];
      if (quoted === undefined || (character === "'" && /(?:^|[^a-z0-9_$])e$/i.test(text.slice(0, at)))) return false;
      at += quoted.length - 1;
    } else if (character in CLOSING) open.push(CLOSING[character] ?? '');
    else if (character === ')' || character === ']') {
      if (open.pop() !== character) return false;
    } else if (character === ';' || /^(?:--|\/\*|\$[a-z_]*\$)/i.test(text.slice(at, at + 64))) return false;
  }
  return open.length === 0;
}
