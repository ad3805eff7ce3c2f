import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../src/domain/text/json.ts';

/** A JSON object that nothing is known of. */
export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one where it is none. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The object as a version keeps it. What was read from a file holds nothing but JSON; versions are checked for it. */
export function storableObject(object: Json): Record<string, JsonValue> {
  return object as Record<string, JsonValue>;
}

/** The value as a list; an empty one where it is none. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value where it is a text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether two values are the same as JSON, whatever the order of their keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null');
  return isDeepStrictEqual(plain(a), plain(b));
}

/** The value as it stands in a sentence: a text as it is, anything else as JSON, nothing as "none". */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}
