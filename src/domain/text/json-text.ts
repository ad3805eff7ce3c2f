import { randomUUID } from 'node:crypto';

/**
 * The texts that the value being written has met, and what stands for each until it is put in. Nobody can know it, so nothing that
 * callers have sent is taken for it. Writing is done in one go, so there is one at a time.
 */
let writing: { texts: string[]; mark: string } | undefined;

/**
 * JSON that is passed on as it was stored: it is never parsed to be shown, so its time and memory go with its bytes, not with its values.
 * Only {@link stringifyJson} writes it.
 */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** @throws Error where {@link stringifyJson} is not who writes */
  toJSON(): string {
    if (writing === undefined) throw new Error('JSON that is passed on as text is written by stringifyJson().');
    writing.texts.push(this.text);
    return writing.mark;
  }
}

/** `T` in which the members `Names` may be {@link JsonText}. */
export type WithTexts<T, Names extends keyof T> = Omit<T, Names> & { [Name in Names]: T[Name] | JsonText };

/** @returns the JSON of a value, with each {@link JsonText} in it as it is */
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
 * Whether writing a value may take milliseconds. Looks at a part of it only.
 * @param size characters from which on it may
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
