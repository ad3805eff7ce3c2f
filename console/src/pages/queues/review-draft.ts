import { readValue, type ValueType } from '../scores/score-value.ts';
import type { CompleteItem } from './types.ts';

/** What a reviewer says of an item, as it is typed. */
export interface ReviewDraft {
  /** By the name of the score. */
  values: Record<string, string>;
  comment: string;
  /** Undefined: the output is right, or nothing is said of it. */
  correction: string | undefined;
}

export const EMPTY_DRAFT: ReviewDraft = { values: {}, comment: '', correction: undefined };

/** The body of `complete`. */
export function toComplete(
  { values, comment, correction }: ReviewDraft,
  names: readonly string[],
  typeOf: (name: string) => ValueType,
  dataset: string,
): CompleteItem {
  const scores = names.flatMap((name) => {
    const value = readValue(typeOf(name), values[name] ?? '');
    return value === undefined ? [] : [{ name, value, ...(comment.trim() !== '' && { comment: comment.trim() }) }];
  });
  return { scores, ...(correction !== undefined && { correction, dataset: dataset.trim() }) };
}
