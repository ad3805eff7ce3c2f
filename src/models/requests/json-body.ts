import { isObject } from '../../domain/text/json.ts';
/** A parsed body of a provider's protocol. */
export type RequestBody = Record<string, unknown>;

/** The value at a path such as `generationConfig.seed`; undefined if there is none. */
export function valueAt(body: RequestBody, place: string): unknown {
  let value: unknown = body;
  for (const key of place.split('.')) value = isObject(value) ? value[key] : undefined;
  return value;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function fieldOf(object: unknown, key: string): unknown {
  return isObject(object) ? object[key] : undefined;
}
