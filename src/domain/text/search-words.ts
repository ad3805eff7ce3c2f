import { hash } from 'node:crypto';

/** Longer words are compared by their beginnings: the text decides in the end. */
const MAX_WORD_CHARS = 32;
/** PostgreSQL stores at most 1 MB of words for a row. */
const MAX_WORDS = 5_000;

/** Scripts without spaces between words: each character counts as a word. */
const WORD =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]+/gv;

const shorten = (word: string) => word.slice(0, MAX_WORD_CHARS).toWellFormed();

/** The words of texts, in small letters. Each text is added in turn. */
export class WordSet {
  readonly #words = new Set<string>();
  #isWhole: boolean;

  /** @param options.isWhole whether to keep words at all. Default: true */
  constructor({ isWhole = true } = {}) {
    this.#isWhole = isWhole;
  }

  add(text: string | null | undefined): void {
    if (text === null || text === undefined || !this.#isWhole) return;
    for (const [word] of text.toLowerCase().matchAll(WORD)) {
      this.#words.add(shorten(word));
      if (this.#words.size <= MAX_WORDS) continue;
      this.giveUp();
      return;
    }
  }

  /** Keeps no words: the text has to be read at each search. */
  giveUp(): void {
    this.#words.clear();
    this.#isWhole = false;
  }

  /** As a `tsvector`. Without words it has only the key, which every search finds. */
  vector(key: string): string {
    if (!this.#isWhole) return `'${key}'`;
    return Array.from(this.#words, (word) => `'${key}${word}'`).join(' ');
  }
}

/** What is searched. */
export type Searched = 'execution' | 'trace';

/** 2^26 ms: 18.6 hours. Words of a shorter time are more to look up, those of a longer time more to read. */
const BUCKET_MS = 2 ** 26;
export const bucketAt = (time: number): number => Math.floor(Math.max(time, 0) / BUCKET_MS);
/** The bucket of a UUIDv7, which starts with its time. */
export const bucketOfId = (id: string): number => bucketAt(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));

/**
 * The beginning of every word of a workspace and a bucket of time, so that a search reads neither words of other workspaces nor the whole past.
 * It is short: keys may coincide, and rows are compared with the workspace anyway.
 */
export const keyOf = (workspaceId: string, searched: Searched, bucket: number): string =>
  hash('sha256', `${workspaceId} ${searched} ${bucket}`, 'base64url').slice(0, 5);

/** The different words of terms, for a `tsquery`: the last word of each term is a beginning. Empty if the terms have no words. */
export function wordsOf(terms: readonly string[]): string[] {
  const words = terms.map((term) => Array.from(term.toLowerCase().matchAll(WORD), ([word]) => shorten(word)));
  return [
    ...new Set(words.flatMap((ofTerm) => ofTerm.map((word, at) => `${word}'${at === ofTerm.length - 1 ? ':*' : ''}`))),
  ];
}

/** The `tsquery` of a key: rows with all words (from {@link wordsOf}), and rows whose words are not stored. */
export const wordQuery = (words: readonly string[], key: string): string =>
  `(${words.map((word) => `'${key}${word}`).join(' & ')}) | '${key}'`;
