import type { SyntaxNode, Tree } from '@lezer/common';
import type { Call, Hole, Value } from './value.ts';

/** Deeper than any handwritten prompt; generated code may nest further. */
const MAX_DEPTH = 100;

/** What differs between languages. */
export interface Language {
  parse(text: string): Tree;
  /** The value of a node other than a name or a call. @param read reads nested nodes */
  readLiteral(node: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Value | undefined;
  readArguments(list: SyntaxNode, source: Source, read: (node: SyntaxNode) => Value): Pick<Call, 'args' | 'named'>;
  /** Values of names that are assigned only once, by name. */
  constantsOf(tree: Tree, source: Source): Map<string, SyntaxNode>;
  /** The name that a node gives to its content. */
  scopeOf(node: SyntaxNode, source: Source): string | undefined;
}

/** Source text with positions. */
export class Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  of({ from, to }: { from: number; to: number }): string {
    return this.text.slice(from, to);
  }

  /** From 1. */
  lineAt(offset: number): number {
    return this.text.slice(0, offset).split('\n').length;
  }
}

/** The nodes directly inside. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** Drops the entries without a value. */
export function withoutUndefined<T>(map: ReadonlyMap<string, T | undefined>): Map<string, T> {
  return new Map([...map].flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

/** The summands of a sum, iteratively because it is nested as deep as it is long. @returns undefined if it is not a sum */
export function summandsOf(sum: SyntaxNode, source: Source): SyntaxNode[] | undefined {
  const summands: SyntaxNode[] = [];
  for (let node = sum; ; ) {
    const [left, operator, right] = childrenOf(node).filter(({ name }) => !name.endsWith('Comment'));
    if (left === undefined || operator === undefined || right === undefined || source.of(operator) !== '+') {
      return node === sum ? undefined : [node, ...summands.toReversed()];
    }
    summands.push(right);
    if (left.name !== 'BinaryExpression') return [left, ...summands.toReversed()];
    node = left;
  }
}

/** Joins several texts; undefined if one of them cannot be a text. */
export function joined(values: readonly Value[]): Value | undefined {
  const pieces: (string | Hole)[] = [];
  for (const value of values) {
    if (value.kind === 'text') pieces.push(...value.pieces);
    else if (value.kind === 'unknown' || value.kind === 'call') pieces.push({ source: value.source });
    else return undefined;
  }
  return values.some(({ kind }) => kind === 'text') ? { kind: 'text', pieces } : undefined;
}

function calleeOf(node: SyntaxNode, source: Source): string[] {
  if (node.name === 'VariableName') return [source.of(node)];
  if (node.name !== 'MemberExpression') return [];
  const [base, ...others] = childrenOf(node);
  const property = others.findLast(({ name }) => name === 'PropertyName');
  const before = base === undefined ? [] : calleeOf(base, source);
  return property === undefined ? before : [...before, source.of(property)];
}

/** The calls of a file, in order. Files with syntax errors are read as far as possible. */
export function callsIn(text: string, language: Language): Call[] {
  const source = new Source(text);
  const tree = language.parse(text);
  const constants = language.constantsOf(tree, source);

  const read = (node: SyntaxNode, depth: number, known: readonly string[]): Value => {
    const unknown: Value = { kind: 'unknown', source: source.of(node) };
    if (depth > MAX_DEPTH) return unknown;
    if (node.name === 'VariableName') {
      const name = source.of(node);
      const constant = constants.get(name);
      if (constant === undefined || known.includes(name)) return unknown;
      const value = read(constant, depth + 1, [...known, name]);
      return value.kind === 'call' ? unknown : value;
    }
    if (node.name === 'CallExpression')
      return { kind: 'call', call: readCall(node, depth, known), source: source.of(node) };
    return language.readLiteral(node, source, (inner) => read(inner, depth + 1, known)) ?? unknown;
  };

  const readCall = (node: SyntaxNode, depth: number, known: readonly string[]): Call => {
    const [callee] = childrenOf(node);
    const list = node.getChild('ArgList');
    let scope: string | undefined;
    for (let outer = node.parent; outer !== null && scope === undefined; outer = outer.parent)
      scope = language.scopeOf(outer, source);
    return {
      callee: callee === undefined ? [] : calleeOf(callee, source),
      ...(list === null
        ? { args: [], named: new Map() }
        : language.readArguments(list, source, (inner) => read(inner, depth + 1, known))),
      line: source.lineAt(node.from),
      scope,
    };
  };

  const calls: Call[] = [];
  tree.iterate({
    enter: ({ node }) => {
      if (node.name === 'CallExpression') calls.push(readCall(node, 0, []));
    },
  });
  return calls;
}
