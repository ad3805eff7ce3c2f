import type { JsonValue } from '../text/json.ts';
import { storableText } from '../text/storable-text.ts';
import { MAX_ATTRIBUTE_DEPTH, MAX_STEP_BYTES, MAX_STEP_TEXT_BYTES } from './limits.ts';

/** Bytes that a value counts in addition to its texts. */
const VALUE_BYTES = 8;
/** Texts up to this size are names and ids, and kept whole. */
const SHORT = 64;

/** The first bytes of a text, without a partial character at the end. */
function firstBytes(text: string, bytes: number): string {
  // A character takes at least one byte.
  const head = Buffer.from(text.slice(0, bytes));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(head.subarray(0, bytes), { stream: true });
}

/** The room for a step's contents. Cuts what does not fit, and remembers what was cut. */
export class Room {
  #bytes: number;
  readonly #cut: Set<string>;

  constructor(cut: Iterable<string> = [], bytes = MAX_STEP_BYTES) {
    this.#cut = new Set(cut);
    this.#bytes = bytes;
  }

  get isFull(): boolean {
    return this.#bytes <= 0;
  }

  /** The cut fields, sorted by name. */
  get cut(): string[] {
    return [...this.#cut].sort();
  }

  mark(field: string): void {
    this.#cut.add(field);
  }

  /** @returns the text in storable form, cut if it exceeds its own limit or the remaining room */
  text(given: string, field: string, most = MAX_STEP_TEXT_BYTES): string {
    // A character takes at least one byte: text that cannot fit is not read.
    const text = storableText(given.slice(0, most + 1));
    const bytes = Buffer.byteLength(text);
    const limit = Math.max(bytes <= SHORT ? bytes : 0, Math.min(most, this.#bytes));
    this.#bytes -= Math.min(bytes, limit);
    if (bytes <= limit) return text;
    this.mark(field);
    return firstBytes(text, limit);
  }

  /** @returns the value with texts as in {@link text}, and lists and objects only as deep and long as there is room */
  json(value: JsonValue, field: string, depth = 0): JsonValue {
    this.#bytes -= VALUE_BYTES;
    if (typeof value === 'string') return this.text(value, field);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > MAX_ATTRIBUTE_DEPTH) {
      this.mark(field);
      return null;
    }
    if (Array.isArray(value)) {
      const kept: JsonValue[] = [];
      for (const item of value) {
        if (!this.#hasRoom(field)) break;
        kept.push(this.json(item, field, depth + 1));
      }
      return kept;
    }
    const kept: [string, JsonValue][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (!this.#hasRoom(field)) break;
      kept.push([this.text(name, field), this.json(item, field, depth + 1)]);
    }
    return Object.fromEntries(kept);
  }

  #hasRoom(field: string): boolean {
    if (this.isFull) this.mark(field);
    return !this.isFull;
  }
}
