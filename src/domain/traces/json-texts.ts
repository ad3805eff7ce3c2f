import type { JsonValue } from '../text/json.ts';
import { countJsonValues } from '../text/json-count.ts';
import { storableJson } from '../text/storable-text.ts';

/** Longer texts are not parsed. */
const MAX_PARSED_CHARS = 2 * 1024 * 1024;
/** JSON values in all texts of a span: a long conversation has a few thousand. */
const MAX_PARSED_VALUES = 20_000;

export const jsonText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Parses the JSON texts of one span. Texts beyond the maximum number of values stay texts, so that no span takes long. */
export class JsonTexts {
  #left = MAX_PARSED_VALUES;
  readonly #known = new Map<string, JsonValue>();

  /** Parses a text that is a JSON list or object; returns any other value, or one too deep to store, unchanged. */
  parsed(value: JsonValue): JsonValue {
    return this.#parse(value, /^\s*[[{]/);
  }

  /** Parses a text that is a JSON string, as Langfuse and the AI SDK write some; returns any other value unchanged. */
  unquoted(value: JsonValue): JsonValue {
    return this.#parse(value, /^"[\s\S]*"$/);
  }

  #parse(value: JsonValue, form: RegExp): JsonValue {
    if (typeof value !== 'string' || value.length > MAX_PARSED_CHARS || !form.test(value)) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const count = countJsonValues(Buffer.from(value), this.#left);
    if (count > this.#left) return value;
    this.#left -= count;
    let parsed = value as JsonValue;
    try {
      parsed = storableJson(JSON.parse(value) as JsonValue);
    } catch {
      // It only looks like JSON, or is too deep.
    }
    this.#known.set(value, parsed);
    return parsed;
  }
}
