import { randomUUID } from 'node:crypto';
import { findLongNumber } from '../../domain/text/json-digits.ts';

/** Preserves the digits of long numbers through an SDK, which would parse them as doubles. */
export interface LongNumbers {
  /** The JSON of a body in which each long number is a string with a mark that cannot be guessed. */
  written(body: unknown): string;
  /** Restores the numbers in a text from the SDK's result. */
  restored(text: string): string;
}

export function createLongNumbers(): LongNumbers {
  const mark = randomUUID();
  const marked = new RegExp(`"${mark}([^"]*)"`, 'g');
  return {
    written(body) {
      const json = JSON.stringify(body);
      if (findLongNumber(json) === undefined) return json;
      return JSON.stringify(body, (_, value) => (JSON.isRawJSON(value) ? mark + value.rawJSON : value));
    },
    restored: (text) => (text.includes(mark) ? text.replace(marked, '$1') : text),
  };
}
