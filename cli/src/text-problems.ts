/** How deep JSON may be, in the service and here. */
export const MAX_JSON_DEPTH = 32;

/** Where in a value something is that the service can't keep, and what. */
export interface ValueProblem {
  path: (string | number)[];
  message: string;
}

const isInsane = (text: string) => text.includes('\0') || !text.isWellFormed();

/** The first part of a value that the service refuses wherever it stands: NUL, an unpaired surrogate, `__proto__`, too deep. */
export function valueProblem(value: unknown, path: (string | number)[] = []): ValueProblem | undefined {
  if (typeof value === 'string')
    return isInsane(value) ? { path, message: 'must not contain NUL or an unpaired surrogate' } : undefined;
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { path, message: 'must be a finite number' };
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length >= MAX_JSON_DEPTH) return { path, message: `is nested deeper than ${MAX_JSON_DEPTH} levels` };
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (key === '__proto__') return { path, message: 'must not have the name "__proto__"' };
    if (typeof key === 'string' && isInsane(key))
      return { path, message: 'has a name with NUL or an unpaired surrogate' };
    const problem = valueProblem(item, [...path, key]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
