import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/python';
import { childrenOf, joined, type Language, type Source, summandsOf, withoutUndefined } from './source-reader.ts';
import { type Hole, literalText, piecesOf, type Value } from './value.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};
const ESCAPE = /\\(?:U([0-9a-fA-F]{8})|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([0-7]{1,3})|([\s\S]))/g;

const unescaped = (text: string) =>
  text.replace(ESCAPE, (whole, long?: string, short?: string, byte?: string, octal?: string, character = '') => {
    const hex = long ?? short ?? byte;
    if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
    // Python keeps the backslash of unknown escapes.
    return ESCAPES[character] ?? whole;
  });

/** The start and end of a string's text, and how to read it. @returns undefined for bytes */
function boundsOf(node: SyntaxNode, source: Source) {
  const [, prefix = '', quote = ''] = /^([A-Za-z]*)("""|'''|"|')/.exec(source.of(node)) ?? [];
  if (quote === '' || /b/i.test(prefix)) return undefined;
  return {
    from: node.from + prefix.length + quote.length,
    to: node.to - quote.length,
    cooked: (text: string) => (/r/i.test(prefix) ? text : unescaped(text.replaceAll('\r\n', '\n'))),
  };
}

function readString(node: SyntaxNode, source: Source): Value | undefined {
  const bounds = boundsOf(node, source);
  return bounds && { kind: 'text', pieces: [bounds.cooked(source.of(bounds))] };
}

function readFormatString(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value | undefined {
  const bounds = boundsOf(node, source);
  if (bounds === undefined) return undefined;
  const cooked = (from: number, to: number) =>
    bounds.cooked(source.text.slice(from, to)).replaceAll('{{', '{').replaceAll('}}', '}');
  const pieces: (string | Hole)[] = [];
  let at = bounds.from;
  for (const hole of node.getChildren('FormatReplacement')) {
    pieces.push(cooked(at, hole.from));
    const [, expression] = childrenOf(hole);
    if (expression !== undefined) pieces.push(...piecesOf(read(expression), source.of(expression)));
    at = hole.to;
  }
  pieces.push(cooked(at, bounds.to));
  return { kind: 'text', pieces: pieces.filter((piece) => piece !== '') };
}

const isPunctuation = ({ name }: SyntaxNode) => /^[[\](){},:]$|^(Comment|⚠)$/.test(name);

/** Entries of a list or tuple; spread ones represent several. */
function readItems(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value[] {
  const items: Value[] = [];
  let isSpread = false;
  for (const child of childrenOf(node)) {
    if (child.name === '*') isSpread = true;
    if (isPunctuation(child) || child.name === '*') continue;
    items.push(isSpread ? { kind: 'unknown', source: source.of(child) } : read(child));
    isSpread = false;
  }
  return items;
}

function readDictionary(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value {
  const fields = new Map<string, Value>();
  const children = childrenOf(node);
  for (const [index, child] of children.entries()) {
    const value = children[index + 2];
    if (child.name !== 'String' || children[index + 1]?.name !== ':' || value === undefined) continue;
    const key = literalText(readString(child, source));
    if (key !== undefined) fields.set(key, read(value));
  }
  return { kind: 'object', fields };
}

function readLiteral(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value | undefined {
  const inside = () => childrenOf(node).filter((child) => !isPunctuation(child));
  switch (node.name) {
    case 'String':
      return readString(node, source);
    case 'FormatString':
      return readFormatString(node, source, read);
    case 'ContinuedString':
      return joined(inside().map(read));
    case 'Number': {
      const value = Number(source.of(node).replaceAll('_', ''));
      return Number.isNaN(value) ? undefined : { kind: 'literal', value };
    }
    case 'Boolean':
      return { kind: 'literal', value: source.of(node) === 'True' };
    case 'None':
      return { kind: 'literal', value: null };
    case 'ArrayExpression':
    case 'TupleExpression':
      return { kind: 'list', items: readItems(node, source, read) };
    case 'DictionaryExpression':
      return readDictionary(node, source, read);
    case 'ParenthesizedExpression': {
      const [inner] = inside();
      return inner && read(inner);
    }
    case 'BinaryExpression':
      return joined((summandsOf(node, source) ?? []).map(read));
    default:
      return undefined;
  }
}

function readArguments(list: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value) {
  const args: Value[] = [];
  const named = new Map<string, Value>();
  const children = childrenOf(list).filter((child) => !isPunctuation(child));
  for (let at = 0; at < children.length; at += 1) {
    const [child, next, value] = children.slice(at, at + 3);
    if (child === undefined) break;
    if (next?.name === 'AssignOp' && value !== undefined) {
      named.set(source.of(child), read(value));
      at += 2;
    } else if (child.name === '*' || child.name === '**') at += 1;
    else args.push(read(child));
  }
  return { args, named };
}

/** Names that a node assigns. */
function namesSetBy(node: SyntaxNode): SyntaxNode[] {
  if (node.name === 'ParamList') return node.getChildren('VariableName');
  if (node.name === 'AssignStatement' || node.name === 'UpdateStatement' || node.name === 'ForStatement') {
    const children = childrenOf(node);
    const end = children.findLastIndex(({ name }) => name === 'AssignOp' || name === 'UpdateOp' || name === 'in');
    return children.slice(0, end).filter(({ name }) => name === 'VariableName');
  }
  return [];
}

/** Python. */
export const PYTHON: Language = {
  parse: (text) => parser.parse(text),
  readLiteral,
  readArguments,
  constantsOf(tree, source) {
    const values = new Map<string, SyntaxNode | undefined>();
    tree.iterate({
      enter: ({ node }) => {
        for (const name of namesSetBy(node)) {
          const text = source.of(name);
          const isOnly = node.name === 'AssignStatement' && node.getChildren('AssignOp').length === 1;
          const value = isOnly && node.firstChild?.from === name.from ? node.lastChild : null;
          // A name that is assigned twice is ambiguous.
          values.set(text, values.has(text) ? undefined : (value ?? undefined));
        }
      },
    });
    return withoutUndefined(values);
  },
  scopeOf(node, source) {
    const isModuleLevel = node.name === 'AssignStatement' && node.parent?.name === 'Script';
    if (node.name !== 'FunctionDefinition' && !isModuleLevel) return undefined;
    const name = node.getChild('VariableName');
    return name === null ? undefined : source.of(name);
  },
};
