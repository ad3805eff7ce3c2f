import { randomUUID } from 'node:crypto';

/**
 * The texts found in the value being written, and the placeholder for each until it is inserted. The placeholder is random, so it
 * can't be confused with text from callers. Writing is synchronous, so there is only one at a time.
 */
let writing: { texts: string[]; mark: string } | undefined;

/**
 * JSON that is passed on as stored: it is never parsed, so its time and memory depend on its bytes, not on its values. Only
 * {@link stringifyJson} writes it.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** @throws Error unless called from {@link stringifyJson} */
  toJSON(): string {
    if (writing === undefined) throw new Error('JSON that is passed on as text is written by stringifyJson().');
    writing.texts.push(this.text);
    return writing.mark;
  }
}

/** `T` with members `Names` that may be {@link JsonText}. */
export type WithTexts<T, Names extends keyof T> = Omit<T, Names> & { [Name in Names]: T[Name] | JsonText };

/** @returns the JSON of a value, with each {@link JsonText} in it unchanged */
export function stringifyJson(value: unknown): string {
  const texts: string[] = [];
  const mark = randomUUID();
  writing = { texts, mark };
  let written: string;
  try {
    written = JSON.stringify(value);
  } finally {
    writing = undefined;
  }
  if (texts.length === 0) return written;
  return written
    .split(`"${mark}"`)
    .map((part, index) => part + (texts[index] ?? ''))
    .join('');
}

const MANY_NODES = 2_000;

/**
 * Whether writing a value may take milliseconds. Examines only a part of it.
 * @param size the number of characters from which it may
 */
export function isLargeJson(value: unknown, size: number): boolean {
  let left = size;
  let nodes = MANY_NODES;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    nodes -= 1;
    if (typeof next === 'string') left -= next.length;
    else if (next instanceof JsonText) left -= next.text.length;
    else if (Array.isArray(next)) {
      if (next.length > nodes) return true;
      for (const item of next) open.push(item);
    } else if (typeof next === 'object' && next !== null)
      for (const name in next) open.push((next as Record<string, unknown>)[name]);
    if (left < 0 || nodes < 0) return true;
  }
  return false;
}
