import { findLongNumber } from '../../src/domain/prompt-rules/number-digits.ts';

// The rule of the service: a number whose digits a double does not keep is refused, by its place. Else it would be another one, without a word.

const MESSAGE = 'has more digits than a number can keep: write it as a string';

/** JSON or YAML has a number that would lose digits. Its message is for the user. */
export class LongNumberError extends Error {
  readonly rule = MESSAGE;
  /** Such as `variables.order.id`; empty: it is the whole. */
  readonly path: string;

  constructor(path: readonly (string | number)[]) {
    const parts = path.map((part) => (typeof part === 'string' && part.startsWith('"') ? JSON.parse(part) : part));
    const place = parts.join('.').slice(0, 200);
    super(`${parts.length === 0 ? 'it' : `"${place}"`} ${MESSAGE}`);
    this.path = place;
    this.name = 'LongNumberError';
  }
}

/** As `JSON.parse`. @throws SyntaxError; LongNumberError where digits would be lost */
export function parseExactly(json: string): unknown {
  const value: unknown = JSON.parse(json);
  const found = findLongNumber(json);
  if (found !== undefined) throw new LongNumberError(found.path);
  return value;
}
