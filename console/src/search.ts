/** A search parameter as text; undefined if missing or empty. The router has parsed what looks like JSON. */
export function text(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A parameter that is one of a few. */
export function oneOf<Value extends string>(value: unknown, values: readonly Value[]): Value | undefined {
  return values.find((each) => each === value);
}

/** A position in a list, from 0. */
export function place(value: unknown): number | undefined {
  const number = Number(value);
  return value !== undefined && value !== '' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** A version of a prompt or a dataset. */
export function version(value: unknown): number | undefined {
  const number = Number(value);
  return value !== undefined && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/**
 * Types the search parameters as optional. Undefined ones stay in the object: otherwise the router would keep the current
 * values.
 */
export function optional<Entries extends Record<string, unknown>>(
  entries: Entries,
): { [Name in keyof Entries]?: Entries[Name] } {
  return entries;
}
