/** An expression whose value is only known when the program runs. */
export interface Hole {
  /** As it is written. */
  source: string;
}

/** What source code says of a value, without running it. */
export type Value =
  /** A text in parts: what stands there, and what is put in. */
  | { kind: 'text'; pieces: (string | Hole)[] }
  | { kind: 'literal'; value: number | boolean | null }
  /** A list or tuple. */
  | { kind: 'list'; items: Value[] }
  | { kind: 'object'; fields: Map<string, Value> }
  | { kind: 'call'; call: Call; source: string }
  | { kind: 'unknown'; source: string };

/** A call that stands in source code. */
export interface Call {
  /** `client.chat.completions.create` as a list; what comes before a name that is no name is left out. */
  callee: string[];
  args: Value[];
  /** By name: keyword arguments in Python, the fields of the first argument in JavaScript. */
  named: Map<string, Value>;
  /** From 1. */
  line: number;
  /** The function around it, or what its result is assigned to. */
  scope: string | undefined;
}

/** What a text gets where an expression is put in: what is known of it, or a hole. */
export function piecesOf(value: Value, source: string): (string | Hole)[] {
  if (value.kind === 'text') return value.pieces;
  return value.kind === 'literal' ? [String(value.value)] : [{ source }];
}

/** The text that is written, where nothing is put in. */
export function literalText(value: Value | undefined): string | undefined {
  if (value?.kind !== 'text') return undefined;
  return value.pieces.every((piece) => typeof piece === 'string') ? value.pieces.join('') : undefined;
}

/** The value as JSON; undefined where some of it is only known when the program runs. */
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
