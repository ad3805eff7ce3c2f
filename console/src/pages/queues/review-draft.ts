import { readValue, type ValueType } from '../scores/score-value.ts';
import type { CompleteItem } from './types.ts';

/** The raw input of a reviewer for an item. */
export interface ReviewDraft {
  /** By score name. */
  values: Record<string, string>;
  comment: string;
  /** Undefined if the output is correct, or not judged. */
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
