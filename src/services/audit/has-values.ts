import { isDeepStrictEqual } from 'node:util';

/**
 * Whether a row already has these values, so that storing them again would change nothing and needs no audit log entry. Values
 * are compared as JSON, because most of them are stored as JSON.
 * @param values by column
 */
export function hasValues(row: object, values: Record<string, unknown>): boolean {
  return Object.entries(values).every(([column, value]) =>
    isDeepStrictEqual(asStored(Reflect.get(row, column)), asStored(value)),
  );
}

const asStored = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));
