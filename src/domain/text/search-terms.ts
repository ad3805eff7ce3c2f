/** The maximum number of characters of a search, and of terms in it. */
export const MAX_SEARCH_LENGTH = 200;
export const MAX_SEARCH_TERMS = 10;

const TERM = /"([^"]*)"|[^\s"]+/g;

/**
 * The terms of a search: words, and phrases in quotation marks. A match contains all of them.
 * @returns the error, in words for the caller, if it is invalid
 */
export function parseSearchTerms(text: string): string[] | string {
  if ((text.match(/"/g)?.length ?? 0) % 2 === 1) return 'has an unclosed quotation mark: close or remove it';
  const terms = [...text.matchAll(TERM)].map(([word, phrase]) => (phrase ?? word).trim()).filter((term) => term !== '');
  const different = [...new Set(terms)];
  if (different.length === 0) return 'has no words: omit it, or enter search terms';
  if (different.length > MAX_SEARCH_TERMS)
    return `must have at most ${MAX_SEARCH_TERMS} words and phrases: put a phrase in quotation marks`;
  return different;
}
