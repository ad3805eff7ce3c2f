import type { SyntaxNode } from '@lezer/common';
import { parser } from '@lezer/javascript';
import { childrenOf, joined, type Language, type Source, summandsOf, withoutUndefined } from './source-reader.ts';
import { type Hole, piecesOf, type Value } from './value.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', 0: '\0' };
const ESCAPE = /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))/g;

const unescaped = (text: string) =>
  text.replace(ESCAPE, (_, long?: string, short?: string, byte?: string, character = '') => {
    const code = long ?? short ?? byte;
    if (code !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff));
    if (/^[\r\n\u2028\u2029]/.test(character)) return '';
    return ESCAPES[character] ?? character;
  });

function readTemplate(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value {
  const pieces: (string | Hole)[] = [];
  let at = node.from + 1;
  for (const child of node.getChildren('Interpolation')) {
    pieces.push(unescaped(source.text.slice(at, child.from).replaceAll('\r\n', '\n')));
    const [, expression] = childrenOf(child);
    const written = source.text.slice(child.from + 2, child.to - 1).trim();
    pieces.push(...(expression === undefined ? [{ source: written }] : piecesOf(read(expression), written)));
    at = child.to;
  }
  pieces.push(unescaped(source.text.slice(at, node.to - 1).replaceAll('\r\n', '\n')));
  return { kind: 'text', pieces: pieces.filter((piece) => piece !== '') };
}

function readObject(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value {
  const fields = new Map<string, Value>();
  for (const property of node.getChildren('Property')) {
    const [key, ...others] = childrenOf(property);
    if (key === undefined || key.name === 'Spread') continue;
    const name = key.name === 'String' ? unescaped(source.text.slice(key.from + 1, key.to - 1)) : source.of(key);
    const [colon, value] = others;
    if (colon === undefined) fields.set(name, readName(name));
    else if (colon.name === ':' && value !== undefined) fields.set(name, read(value));
  }
  return { kind: 'object', fields };
}

/** `{ name }` has no separate node for its value, which is only known at run time. */
const readName = (name: string): Value => ({ kind: 'unknown', source: name });

/** Entries of a list or of arguments; spread ones represent several. */
function readItems(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value[] {
  const items: Value[] = [];
  let isSpread = false;
  for (const child of childrenOf(node)) {
    if (child.name === 'Spread') isSpread = true;
    if (/^[[\](),]$|^(Spread|LineComment|BlockComment|⚠)$/.test(child.name)) continue;
    items.push(isSpread ? { kind: 'unknown', source: source.of(child) } : read(child));
    isSpread = false;
  }
  return items;
}

function readLiteral(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value | undefined {
  const children = () => childrenOf(node).filter(({ name }) => !name.endsWith('Comment'));
  switch (node.name) {
    case 'String':
      return { kind: 'text', pieces: [unescaped(source.text.slice(node.from + 1, node.to - 1))] };
    case 'TemplateString':
      return readTemplate(node, source, read);
    case 'Number':
      return { kind: 'literal', value: Number(source.of(node).replaceAll('_', '')) };
    case 'BooleanLiteral':
      return { kind: 'literal', value: source.of(node) === 'true' };
    case 'null':
      return { kind: 'literal', value: null };
    case 'ArrayExpression':
      return { kind: 'list', items: readItems(node, source, read) };
    case 'ObjectExpression':
      return readObject(node, source, read);
    case 'ParenthesizedExpression': {
      const [, inner] = children();
      return inner && read(inner);
    }
    case 'NewExpression': {
      const [, callee] = children();
      const list = node.getChild('ArgList');
      if (callee?.name !== 'VariableName' || list === null) return undefined;
      const call = { callee: [source.of(callee)], ...readArguments(list, source, read), line: 0, scope: undefined };
      return { kind: 'call', call, source: source.of(node) };
    }
    case 'BinaryExpression': {
      const [left, operator] = children();
      if (left === undefined || operator === undefined) return undefined;
      // `x as const` and `x satisfies T` are equivalent to x.
      if (operator.name === 'as' || operator.name === 'satisfies') return read(left);
      return joined((summandsOf(node, source) ?? []).map(read));
    }
    default:
      return undefined;
  }
}

function readArguments(list: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value) {
  const args = readItems(list, source, read);
  const [first] = args;
  return { args, named: first?.kind === 'object' ? first.fields : new Map<string, Value>() };
}

function scopeOf(node: SyntaxNode, source: Source): string | undefined {
  if (node.name === 'FunctionDeclaration' || node.name === 'VariableDeclaration') {
    // Inside a function, the function is a better name than the declaration.
    if (node.name === 'VariableDeclaration' && isInFunction(node)) return undefined;
    const name = node.getChild('VariableDefinition');
    return name === null ? undefined : source.of(name);
  }
  if (node.name !== 'MethodDeclaration' && node.name !== 'Property') return undefined;
  // In an object, only methods name their content.
  const name = node.getChild('PropertyDefinition');
  const isFunction = node.name === 'MethodDeclaration' || node.getChild('ArrowFunction') !== null;
  return name === null || !isFunction ? undefined : source.of(name);
}

function isInFunction(node: SyntaxNode): boolean {
  for (let outer = node.parent; outer !== null; outer = outer.parent)
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunction|MethodDeclaration)$/.test(outer.name)) return true;
  return false;
}

/** JavaScript and TypeScript, with JSX. */
export const JAVASCRIPT: Language = {
  parse: (text) => parser.configure({ dialect: 'ts jsx' }).parse(text),
  readLiteral,
  readArguments,
  constantsOf(tree, source) {
    const values = new Map<string, SyntaxNode | undefined>();
    tree.iterate({
      enter: ({ node }) => {
        if (node.name !== 'VariableDefinition') return;
        const name = source.of(node);
        const isConstant = node.parent?.name === 'VariableDeclaration' && node.parent.getChild('const') !== null;
        let value = isConstant ? node.nextSibling : null;
        while (value !== null && (value.name === 'TypeAnnotation' || value.name === 'Equals'))
          value = value.nextSibling;
        // A name that is defined twice is ambiguous.
        values.set(name, values.has(name) ? undefined : (value ?? undefined));
      },
    });
    return withoutUndefined(values);
  },
  scopeOf,
};
