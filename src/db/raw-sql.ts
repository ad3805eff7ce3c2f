const CLOSING: Record<string, string> = { '(': ')', '[': ']' };

/** A quoted text or name with any content. Escape strings (`E'…'`) and dollar quotes have different rules: they are refused. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/y;

/**
 * Whether raw SQL is self-contained: it closes each parenthesis, bracket and quote that it opens and no other, and has no comment
 * and no end of a statement. So it can't close the parentheses around it, nor hide what follows.
 * @param fragments the text between its parameters
 */
export function isWholeSql(fragments: readonly string[]): boolean {
  // A parameter becomes a placeholder, or SQL that is itself self-contained; it can't be inside quotes.
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
