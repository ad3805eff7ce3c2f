import type { JsonValue } from '../text/json.ts';
import { storableText } from '../text/storable-text.ts';
import { MAX_ATTRIBUTE_DEPTH, MAX_STEP_BYTES, MAX_STEP_TEXT_BYTES } from './limits.ts';

/** What a value counts besides the bytes of its texts. */
const VALUE_BYTES = 8;
/** Texts up to here are names and ids, and kept as they are. */
const SHORT = 64;

/** The first bytes of a text, without half a character at their end. */
function firstBytes(text: string, bytes: number): string {
  // A character takes a byte at least.
  const head = Buffer.from(text.slice(0, bytes));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(head.subarray(0, bytes), { stream: true });
}

/** Room for what a step keeps. Cuts what has none, and remembers what it has cut. */
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

  /** What was cut, in order of names. */
  get cut(): string[] {
    return [...this.#cut].sort();
  }

  mark(field: string): void {
    this.#cut.add(field);
  }

  /** @returns the text as it can be stored; cut where it is too long by itself or with what was kept before */
  text(given: string, field: string, most = MAX_STEP_TEXT_BYTES): string {
    // A character takes a byte at least: what can't be kept is not looked at.
    const text = storableText(given.slice(0, most + 1));
    const bytes = Buffer.byteLength(text);
    const limit = Math.max(bytes <= SHORT ? bytes : 0, Math.min(most, this.#bytes));
    this.#bytes -= Math.min(bytes, limit);
    if (bytes <= limit) return text;
    this.mark(field);
    return firstBytes(text, limit);
  }

  /** @returns the value with texts as by {@link text}, and lists and objects only as deep and long as there is room */
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
