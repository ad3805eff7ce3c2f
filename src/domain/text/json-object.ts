import { z } from 'zod';
import type { JsonValue } from './json.ts';

// Input from callers was parsed from JSON, and may contain a hundred thousand names. Schemas that visit each of them take longer
// than parsing did.

/** Any JSON, without visiting its contents. */
export const AnyJson = z
  .custom<JsonValue>((value) => value !== undefined, 'is required: any JSON')
  .meta({ override: { description: 'Any JSON.' } });

type JsonObject = Record<string, JsonValue>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object of any JSON, without visiting its contents. */
export function jsonObject(message = 'must be an object') {
  return z.custom<JsonObject>(isObject, message).meta({ override: { type: 'object', additionalProperties: {} } });
}

function hasAtMost(names: number, object: object): boolean {
  let left = names;
  for (const _ in object) {
    if (left === 0) return false;
    left -= 1;
  }
  return true;
}

/**
 * A list whose items are counted before any of them is checked.
 * @param what the name of the items
 * @param min default: 0
 */
export function shortList<Item extends z.ZodType>(
  item: Item,
  what: string,
  { min = 0, max }: { min?: number; max: number },
) {
  const tooMany = `must have at most ${max} ${what}`;
  return z.preprocess(
    (value, context) => {
      if (!Array.isArray(value) || value.length <= max) return value;
      context.addIssue({ code: 'custom', message: tooMany });
      return z.NEVER;
    },
    z.array(item, `must be a list of ${what}`).min(min, 'must not be empty').max(max, tooMany),
  );
}

/**
 * A record whose entries are counted before any of them is checked.
 * @param shown the schema of an entry's value for the documentation
 */
export function smallRecord<Value extends z.ZodType>(
  key: z.ZodString,
  value: Value,
  { max, message, shown }: { max: number; message: string; shown: { type: 'string' | 'object'; maxLength?: number } },
) {
  const record = z.record(key, value);
  const override = { type: 'object' as const, maxProperties: max, additionalProperties: shown };
  return z
    .custom<z.input<typeof record>>((given) => !isObject(given) || hasAtMost(max, given), {
      error: message,
      abort: true,
    })
    .meta({ override })
    .pipe(record)
    .meta({ override });
}
