import { isObject, type JsonValue } from '../text/json.ts';
import { JsonTexts } from './json-texts.ts';
import { MAX_ATTRIBUTE_DEPTH } from './limits.ts';

/** Maximum length of a list whose positions are in names. */
const MAX_PLACES = 10_000;

type Node = Map<string, Node | JsonValue>;

/** Objects whose names are all numbers become lists. */
function toJson(node: Node | JsonValue): JsonValue {
  if (!(node instanceof Map)) return node;
  const entries = [...node].map(([name, value]) => [name, toJson(value)] as const);
  if (!entries.every(([name]) => /^\d{1,5}$/.test(name))) return Object.fromEntries(entries);
  return entries
    .filter(([name]) => Number(name) < MAX_PLACES)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, value]) => value);
}

/** The attributes of a span, without those held by a field of the step. */
export class Bag {
  readonly texts = new JsonTexts();
  readonly #attributes: Map<string, JsonValue>;

  constructor(attributes: ReadonlyMap<string, JsonValue>) {
    this.#attributes = new Map(attributes);
  }

  /** @param name `name`, `name#member`, or `name.*` for a list whose positions are in names */
  get(name: string): JsonValue | undefined {
    if (name.endsWith('.*')) return this.#nested(name.slice(0, -1));
    const at = name.indexOf('#');
    if (at === -1) return this.#attributes.get(name);
    const [value, member] = [this.#attributes.get(name.slice(0, at)), name.slice(at + 1)];
    const object = value === undefined ? value : this.texts.parsed(value);
    return isObject(object) && Object.hasOwn(object, member) ? (object[member] as JsonValue) : undefined;
  }

  /** The same, parsed if it is JSON; null if it is missing. */
  getJson(name: string): JsonValue {
    return this.texts.parsed(this.get(name) ?? null);
  }

  add(name: string, value: JsonValue): void {
    this.#attributes.set(name, value);
  }

  drop(name: string): void {
    if (name.endsWith('.*')) for (const each of this.#places(name.slice(0, -1))) this.#attributes.delete(each);
    else this.#attributes.delete(name);
  }

  /** The first readable value; all attributes with the same value are dropped. */
  take<Value>(names: readonly string[], read: (value: JsonValue) => Value | undefined): Value | undefined {
    for (const name of names) {
      const given = this.get(name);
      const value = given === undefined || given === null ? undefined : read(given);
      if (value === undefined) continue;
      // Members stay: the rest of their object may hold more.
      for (const other of names) if (this.#attributes.get(other) === given) this.#attributes.delete(other);
      return value;
    }
    return undefined;
  }

  /** Takes out the attributes with a prefix; their names are returned without it. */
  takePrefixed(prefix: string): [name: string, value: JsonValue][] {
    return this.#named(prefix).map((name) => {
      const value = this.#attributes.get(name) ?? null;
      this.#attributes.delete(name);
      return [name.slice(prefix.length), value];
    });
  }

  rest(): Map<string, JsonValue> {
    return this.#attributes;
  }

  #named(prefix: string): string[] {
    return [...this.#attributes.keys()].filter((name) => name.startsWith(prefix) && name !== prefix);
  }

  /** `gen_ai.prompt.0.role`, but not `gen_ai.prompt.name`. */
  #places(prefix: string): string[] {
    return this.#named(prefix).filter((name) => /^\d/.test(name.slice(prefix.length)));
  }

  #nested(prefix: string): JsonValue | undefined {
    const root: Node = new Map();
    for (const name of this.#places(prefix)) {
      const path = name.slice(prefix.length).split('.', MAX_ATTRIBUTE_DEPTH);
      const last = path.pop() ?? '';
      let node = root;
      for (const step of path) {
        const inner = node.get(step);
        const next: Node = inner instanceof Map ? inner : new Map();
        if (next !== inner) node.set(step, next);
        node = next;
      }
      if (!node.has(last)) node.set(last, this.#attributes.get(name) ?? null);
    }
    return root.size === 0 ? undefined : toJson(root);
  }
}
