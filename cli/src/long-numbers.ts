import { findLongNumber } from '../../src/domain/prompt-rules/number-digits.ts';

// Follows the service: numbers whose digits a double cannot preserve are rejected with their path, instead of silently changing.

const MESSAGE = 'has more digits than a number can keep: write it as a string';

/** JSON or YAML contains a number that would lose digits. The message is for the user. */
export class LongNumberError extends Error {
  readonly rule = MESSAGE;
  /** Such as `variables.order.id`; empty for the whole value. */
  readonly path: string;

  constructor(path: readonly (string | number)[]) {
    const parts = path.map((part) => (typeof part === 'string' && part.startsWith('"') ? JSON.parse(part) : part));
    const place = parts.join('.').slice(0, 200);
    super(`${parts.length === 0 ? 'it' : `"${place}"`} ${MESSAGE}`);
    this.path = place;
    this.name = 'LongNumberError';
  }
}

/** Like `JSON.parse`. @throws SyntaxError; LongNumberError if digits would be lost */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const found = findLongNumber(json);
  if (found !== undefined) throw new LongNumberError(found.path);
  return value;
}
