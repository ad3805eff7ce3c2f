import type { JsonValue } from '../../domain/text/json.ts';
import { normalForm } from './text.ts';

/** Deeper values are rejected, so that recursive code cannot exhaust the stack. */
export const MAX_JSON_DEPTH = 200;

/**
 * Why a value is not JSON of bounded depth, or null if it is.
 *
 * @param maxDepth nesting of arrays and objects; a scalar has depth 0
 */
export function jsonFault(value: unknown, maxDepth = MAX_JSON_DEPTH): string | null {
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value === 'object' && next.value !== null) {
      if (next.depth >= maxDepth) return `nested more than ${maxDepth} levels deep`;
      for (const child of Object.values(next.value)) open.push({ value: child, depth: next.depth + 1 });
    } else if (!isJsonScalar(next.value)) {
      return 'not a JSON value';
    }
  }
  return null;
}

function isJsonScalar(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** Whether the value is JSON of bounded depth. */
export function isJsonValue(value: unknown): value is JsonValue {
  return jsonFault(value) === null;
}

export type ParsedJson = { ok: true; value: JsonValue } | { ok: false; reason: string };

/**
 * Parses arbitrary text. Never throws, not even for JSON nested a million levels deep.
 *
 * @param parse default: numbers are doubles
 */
export function parseJson(text: string, parse: (text: string) => unknown = JSON.parse): ParsedJson {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    return { ok: false, reason: `not JSON: ${error instanceof Error ? error.message : 'it cannot be parsed'}` };
  }
  if (isJsonValue(value)) return { ok: true, value };
  return { ok: false, reason: `JSON, but ${jsonFault(value)}` };
}

/** The shortest JSON text of a value; a string without quotes. For comparing with plain text output. */
export function toPlainText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Assigns every value a number that is the same for equal values only, in time linear in the size of the values. Texts are equal in any
 * normal form. The order of an object's keys never matters; the order of an array's items matters unless `ignoreArrayOrder`.
 */
export function createJsonIdentifier(ignoreArrayOrder: boolean): (value: JsonValue) => number {
  const idOfShape = new Map<string, number>();
  const idOfNode = new Map<JsonValue, number>();

  function shapeOf(value: JsonValue): string {
    // Numbers are compared as text rather than bits: -0 and 0 are the same JSON number.
    if (typeof value === 'string') return `string:${normalForm(value)}`;
    if (typeof value !== 'object' || value === null) return `${typeof value}:${value}`;
    if (JSON.isRawJSON(value)) return `number:${value.rawJSON}`;
    if (Array.isArray(value)) {
      const ids = value.map(identify);
      return `[${(ignoreArrayOrder ? ids.sort((x, y) => x - y) : ids).join()}]`;
    }
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${JSON.stringify(key)}:${identify(value[key] ?? null)}`).join()}}`;
  }

  function identify(value: JsonValue): number {
    const known = idOfNode.get(value);
    if (known !== undefined) return known;
    const shape = shapeOf(value);
    const id = idOfShape.get(shape) ?? idOfShape.size;
    idOfShape.set(shape, id);
    if (typeof value === 'object' && value !== null) idOfNode.set(value, id);
    return id;
  }

  return identify;
}

/** Whether two values are equal, ignoring the order of object keys. */
export function equalJson(a: JsonValue, b: JsonValue): boolean {
  const identify = createJsonIdentifier(false);
  return identify(a) === identify(b);
}
