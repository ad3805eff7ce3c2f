import { parseSync } from 'vite';
import type { Node } from './messages.ts';

export interface Literal {
  text: string;
  /** The line in the source, from 1. */
  line: number;
}

/** Every string and template of a source; placeholders of templates become `{}`. */
export function literalsOf(file: string, source: string): Literal[] {
  const found: Literal[] = [];
  const add = (node: Node, text: string) => found.push({ text, line: source.slice(0, node.start).split('\n').length });
  const visit = (node: Node): void => {
    if (typeof node !== 'object' || node === null) return;
    if (node.type === 'Literal' && typeof node.value === 'string') add(node, node.value);
    if (node.type === 'TemplateLiteral') add(node, node.quasis.map((part: Node) => part.value.cooked).join('{}'));
    for (const part of Object.values(node)) visit(part);
  };
  visit(parseSync(file, source).program);
  return found;
}

/** Every comment of a source, without its marks. Line comments below each other are one text. */
export function commentsOf(file: string, source: string): Literal[] {
  const found: Literal[] = [];
  let end = 0;
  for (const comment of parseSync(file, source).comments) {
    const text = comment.value.replaceAll(/^\s*\* ?/gm, '').trim();
    const last = found.at(-1);
    const continues = comment.type === 'Line' && /^\n[ \t]*$/.test(source.slice(end, comment.start));
    if (last && continues) last.text += ` ${text}`;
    else found.push({ text, line: source.slice(0, comment.start).split('\n').length });
    end = comment.end;
  }
  return found;
}
