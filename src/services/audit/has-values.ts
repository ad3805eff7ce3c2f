import { isDeepStrictEqual } from 'node:util';

/**
 * Whether a row has these values already, so that storing them again is no change: nothing is written, and nothing is put down in the
 * audit log. Values are compared as JSON has them, since that is how most are stored.
 * @param values by column
 */
export function hasValues(row: object, values: Record<string, unknown>): boolean {
  return Object.entries(values).every(([column, value]) =>
    isDeepStrictEqual(asStored(Reflect.get(row, column)), asStored(value)),
  );
}

const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
