import type { JsonValue } from '../../domain/text/json.ts';

/** Maximum size of one result as JSON, to suit a model's context. */
export const MAX_RESULT_BYTES = 40 * 1024;
/** Maximum number of cuts named individually; the rest is counted. */
const MAX_NAMED_CUTS = 25;
/** Room for the note and the names of the cuts. */
const ROOM_FOR_CUTS = 6 * 1024;

/** A part of the result that was shortened. */
export interface Cut {
  /** A JSON pointer (RFC 6901) into the result. */
  part: string;
  shown: number;
  of: number;
  unit: 'characters' | 'items' | 'fields';
}

/** The shortened result. */
export interface Fitted {
  value: JsonValue;
  cuts: Cut[];
}

/** Limits for each text, list, object and for nesting, tried in order. */
const STEPS = [
  { characters: 8_000, entries: 500, levels: 32 },
  { characters: 2_000, entries: 100, levels: 32 },
  { characters: 500, entries: 30, levels: 16 },
  { characters: 150, entries: 10, levels: 6 },
  { characters: 60, entries: 5, levels: 4 },
];

export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

/** The start of a text, without splitting a character at its end. */
function begin(text: string, characters: number): string {
  const last = text.charCodeAt(characters - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? characters - 1 : characters);
}

const pointerOf = (key: string | number) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** One attempt to shorten: the cuts made, and the room left. */
interface Attempt {
  cuts: Cut[];
  left: number;
}

/** Stops when there is no room left, so that larger values do not take longer. */
function shorten(value: JsonValue, step: (typeof STEPS)[number], level: number, part: string, at: Attempt): JsonValue {
  const cut = (shown: number, of: number, unit: Cut['unit']) => {
    if (shown < of) at.cuts.push({ part, shown, of, unit });
  };
  at.left -= typeof value === 'string' ? Math.min(value.length, step.characters) + 3 : 2;
  if (at.left < 0) return null;
  if (typeof value === 'string') {
    if (value.length <= step.characters) return value;
    const text = begin(value, step.characters);
    cut(text.length, value.length, 'characters');
    return `${text}…`;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = level < step.levels ? step.entries : 0;
  if (Array.isArray(value)) {
    const items = value.slice(0, entries);
    cut(items.length, value.length, 'items');
    return items.map((item, index) => shorten(item, step, level + 1, part + pointerOf(index), at));
  }
  const all = Object.entries(value);
  const fields = all.slice(0, entries);
  cut(fields.length, all.length, 'fields');
  return Object.fromEntries(
    fields.map(([key, item]) => {
      at.left -= key.length + 3;
      return [key, shorten(item, step, level + 1, part + pointerOf(key), at)];
    }),
  );
}

/**
 * Shortens texts, lists and objects until the result fits.
 * @param maxBytes of the value as JSON, with {@link namedCuts}
 * @returns undefined if nothing useful would be left
 */
export function shortenToFit(value: JsonValue, maxBytes = MAX_RESULT_BYTES): Fitted | undefined {
  if (bytesOf(value) <= maxBytes) return { value, cuts: [] };
  for (const step of STEPS) {
    const attempt: Attempt = { cuts: [], left: maxBytes - ROOM_FOR_CUTS };
    const short = shorten(value, step, 0, '', attempt);
    if (attempt.left >= 0 && bytesOf(short) + ROOM_FOR_CUTS <= maxBytes) return { value: short, cuts: attempt.cuts };
  }
  return undefined;
}

/** The cuts as named in a result: small even for a result with many keys. */
export function namedCuts(cuts: readonly Cut[]): { cut: Cut[]; more?: number } | undefined {
  if (cuts.length === 0) return undefined;
  const named: Cut[] = [];
  let bytes = 0;
  for (const cut of cuts.slice(0, MAX_NAMED_CUTS)) {
    bytes += bytesOf(cut);
    if (bytes > ROOM_FOR_CUTS - 1024) break;
    named.push(cut);
  }
  return { cut: named, ...(named.length < cuts.length && { more: cuts.length - named.length }) };
}

/** The value at a pointer; undefined if there is none. */
export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  if (pointer === '') return value;
  if (!pointer.startsWith('/')) return undefined;
  let at: JsonValue | undefined = value;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = Array.isArray(at) ? at[Number(key)] : at[key];
  }
  return at;
}

/** A piece of a long part of a result. */
export interface Piece {
  part: string;
  part_from: number;
  of: number;
  value: JsonValue;
  /** The start of the next piece; null for the last one. */
  next_part_from: number | null;
}

/**
 * As much of a text, list or object as fits, from the given character, item or field.
 * @returns undefined for other values
 */
export function pieceOf(part: string, value: JsonValue, from: number, maxBytes = MAX_RESULT_BYTES): Piece | undefined {
  const whole = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : value;
  if (typeof whole !== 'string' && !Array.isArray(whole)) return undefined;
  const isObject = whole !== value;
  for (let count = Math.min(whole.length - from, maxBytes); count >= 1; count = Math.floor(count / 2)) {
    const piece = typeof whole === 'string' ? begin(whole.slice(from), count) : whole.slice(from, from + count);
    const shown = isObject ? Object.fromEntries(piece as [string, JsonValue][]) : (piece as JsonValue);
    const next = from + piece.length;
    const room = maxBytes - 1024 - bytesOf(part);
    const fitted =
      count === 1 && isObject ? shortenToFit(shown, room) : bytesOf(shown) <= room ? { value: shown } : undefined;
    if (fitted !== undefined)
      return {
        part,
        part_from: from,
        of: whole.length,
        value: fitted.value,
        next_part_from: next < whole.length ? next : null,
      };
  }
  return {
    part,
    part_from: from,
    of: whole.length,
    value: null,
    next_part_from: from + 1 < whole.length ? from + 1 : null,
  };
}
