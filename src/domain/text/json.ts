export type { JsonValue } from '../prompt-rules/types.ts';

/** Whether a value is a JSON object: not a list, and not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
