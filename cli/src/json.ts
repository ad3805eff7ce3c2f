import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../src/domain/text/json.ts';

/** A JSON object of unknown shape. */
export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; empty if it is not one. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

/** The object as stored in a version. Values read from files are valid JSON, which the version's checks confirm. */
export function storableObject(object: Json): Record<string, JsonValue> {
  return object as Record<string, JsonValue>;
}

/** The value as a list; empty if it is not one. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value if it is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether two values are equal as JSON, ignoring the order of keys. */
export function isSameJson(a: unknown, b: unknown): boolean {
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value) ?? 'null');
  return isDeepStrictEqual(plain(a), plain(b));
}

/** The value for use in a sentence: a string unchanged, anything else as JSON, nothing as "none". */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}
