/** An expression whose value is only known at run time. */
export interface Hole {
  /** Its source text. */
  source: string;
}

/** A value as far as the source code reveals it, without running it. */
export type Value =
  /** A text in pieces: literal text and inserted expressions. */
  | { kind: 'text'; pieces: (string | Hole)[] }
  | { kind: 'literal'; value: number | boolean | null }
  /** A list or tuple. */
  | { kind: 'list'; items: Value[] }
  | { kind: 'object'; fields: Map<string, Value> }
  | { kind: 'call'; call: Call; source: string }
  | { kind: 'unknown'; source: string };

/** A call in source code. */
export interface Call {
  /** `client.chat.completions.create` as a list; expressions before the names are left out. */
  callee: string[];
  args: Value[];
  /** By name: keyword arguments in Python, fields of the first argument in JavaScript. */
  named: Map<string, Value>;
  /** From 1. */
  line: number;
  /** The enclosing function, or the variable that gets the result. */
  scope: string | undefined;
}

/** The pieces that an inserted expression adds to a text: its known content, or a hole. */
export function piecesOf(value: Value, source: string): (string | Hole)[] {
  if (value.kind === 'text') return value.pieces;
  return value.kind === 'literal' ? [String(value.value)] : [{ source }];
}

/** The text, if it contains no inserted expressions. */
export function literalText(value: Value | undefined): string | undefined {
  if (value?.kind !== 'text') return undefined;
  return value.pieces.every((piece) => typeof piece === 'string') ? value.pieces.join('') : undefined;
}

/** The value as JSON; undefined if part of it is only known at run time. */
export function jsonOf(value: Value): unknown {
  if (value.kind === 'text') return literalText(value);
  if (value.kind === 'literal') return value.value;
  if (value.kind === 'list') {
    const items = value.items.map(jsonOf);
    return items.includes(undefined) ? undefined : items;
  }
  if (value.kind !== 'object') return undefined;
  const fields = [...value.fields].map(([name, field]) => [name, jsonOf(field)] as const);
  return fields.some(([, field]) => field === undefined) ? undefined : Object.fromEntries(fields);
}
