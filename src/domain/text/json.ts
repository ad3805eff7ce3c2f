export type { JsonValue } from '../prompt-rules/types.ts';

/** Whether a value is an object of JSON: no list, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
