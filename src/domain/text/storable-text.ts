import type { JsonValue } from './json.ts';

/** PostgreSQL refuses JSON that is thousands of levels deep. */
const MAX_DEPTH = 200;

/** Text that PostgreSQL and Temporal can store: U+0000 and lone surrogates, which they refuse, become U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/** JSON with storable texts only. @throws RangeError if it is too deep to be stored */
export function storableJson(value: JsonValue, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new RangeError(`The JSON is more than ${MAX_DEPTH} levels deep.`);
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map((item) => storableJson(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [storableText(key), storableJson(item, depth + 1)]),
  );
}
