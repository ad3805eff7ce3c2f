import type { ErrorDetail } from '../errors.ts';
import type { JsonValue } from './json.ts';
import { clipPath } from './schema-details.ts';

/** The maximum nesting of lists and objects from callers. */
export const MAX_JSON_DEPTH = 32;
const MAX_DETAILS = 20;

const LONE_SURROGATE_OR_NUL = 'must not contain NUL or an unpaired surrogate';

/** Whether a string contains NUL or an unpaired surrogate, which PostgreSQL refuses. */
export function isInsaneText(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed();
}

/** Paths of values that PostgreSQL or JavaScript can't store safely: NUL, lone surrogates, `__proto__`, too deep, too large. */
export function insaneParts(json: JsonValue): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  // Joined only if there is an error: there may be a hundred thousand paths.
  const path: (string | number)[] = [];
  const add = (message: string) => details.push({ path: clipPath(path.join('.')), message });

  function visit(value: JsonValue): void {
    if (typeof value === 'string') {
      if (isInsaneText(value)) add(LONE_SURROGATE_OR_NUL);
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) add('is a number out of range');
    } else if (value !== null && typeof value === 'object') {
      if (path.length >= MAX_JSON_DEPTH) add(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
      else if (Array.isArray(value)) visitItems(value);
      else visitMembers(value);
    }
  }

  function visitItems(items: JsonValue[]): void {
    for (let index = 0; index < items.length && details.length < MAX_DETAILS; index += 1) {
      path.push(index);
      visit(items[index] ?? null);
      path.pop();
    }
  }

  function visitMembers(object: Record<string, JsonValue>): void {
    for (const name in object) {
      if (details.length >= MAX_DETAILS) return;
      if (isInsaneText(name)) {
        add(`has a name that ${LONE_SURROGATE_OR_NUL}`);
        continue;
      }
      path.push(name);
      if (name === '__proto__') add('is not allowed as a name');
      else visit(object[name] ?? null);
      path.pop();
    }
  }

  visit(json);
  return details;
}
