import type { ErrorDetail } from '../errors.ts';
import { findLongNumber, keepsDigits } from '../prompt-rules/number-digits.ts';
import type { JsonValue } from './json.ts';
import { clipPath } from './schema-details.ts';

export { findLongNumber } from '../prompt-rules/number-digits.ts';

// A JSON number becomes a double when it is parsed. What callers send must not change on the way, so a number that would lose
// digits is refused. What models send is kept as they wrote it: as text, or as JSON whose long numbers are written unchanged.

declare global {
  // Part of ECMAScript, but not of the compiler's libraries yet (https://github.com/tc39/proposal-json-parse-with-source).
  interface JSON {
    parse(text: string, reviver: (name: string, value: unknown, context: { source?: string }) => unknown): unknown;
    /** A number that `JSON.stringify` writes as this text. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

const LOSES_DIGITS = 'has more digits than a number can keep: send it as a string';

/** What is wrong with the first number of a JSON text that would lose digits; undefined if there is none. */
export function digitFault(json: string): ErrorDetail | undefined {
  const found = findLongNumber(json);
  if (found === undefined) return undefined;
  const path = found.path.map((part) => (typeof part === 'string' ? JSON.parse(part) : part));
  return { path: clipPath(path.join('.')), message: LOSES_DIGITS };
}

/**
 * Parses JSON. A number that would lose digits becomes an object that `JSON.stringify` writes unchanged (`JSON.isRawJSON`).
 * @throws SyntaxError
 */
export function parseKeepingDigits(json: string): JsonValue {
  if (findLongNumber(json) === undefined) return JSON.parse(json);
  const keep = (_: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' && source !== undefined && !keepsDigits(source) ? JSON.rawJSON(source) : value;
  return JSON.parse(json, keep) as JsonValue;
}
