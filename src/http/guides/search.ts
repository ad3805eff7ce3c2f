import MiniSearch from 'minisearch';
import type { Section } from './markdown.ts';

/** A section of a guide, with its location. */
export interface SearchedSection extends Section {
  /** Title of the guide. */
  guide: string;
  /** `/docs/guides/prompts#compare-versions` */
  address: string;
  /** Weight of a match here; 1 for user guides. */
  weight: number;
}

/** A search result. */
export interface Found {
  guide: string;
  heading: string;
  address: string;
  /** Some words of the section around the first match. */
  excerpt: string;
}

/** Longer questions are truncated to bound their cost. */
export const MAX_QUESTION_LENGTH = 200;
/** Maximum number of words searched: more add little, and each takes time. */
const MAX_TERMS = 8;
/** Maximum number of words matched with misspellings: each is compared with every indexed word. */
const MAX_FUZZY_TERMS = 3;
const MAX_RESULTS = 20;
const EXCERPT_LENGTH = 220;

/** Stop words of questions, which nearly every section contains. */
const COMMON = new Set(
  'a an and are as at be by can do does for from get have how i in is it its me my of on one or our so that the their them there this to use we what when where which who why with you your'.split(
    ' ',
  ),
);

/** Strips plural, -ed and -ing endings from English words. */
function stem(word: string): string {
  if (word.length < 5 || !/^[a-z]+$/.test(word)) return word;
  return word.replace(/(?:ies|ied)$/, 'y').replace(/(?:ing|ed|es|s|e)$/, '');
}

/** Splits a text into words. "A/B" is one. */
const wordsOf = (text: string) => text.replace(/\ba\/b\b/gi, 'ab').split(/[\s\p{P}]+/u);

/** @returns null for words that are not searched */
function processTerm(term: string): string | null {
  const word = term.toLowerCase();
  return COMMON.has(word) ? null : stem(word);
}

/** @param line the text in one line; `lower` is its lower case */
function excerptOf({ line, lower }: { line: string; lower: string }, terms: string[]): string {
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const place = places.length === 0 ? 0 : Math.min(...places);
  const begin = place < EXCERPT_LENGTH / 2 ? 0 : lower.lastIndexOf(' ', place - EXCERPT_LENGTH / 4) + 1;
  const rest = line.slice(begin);
  const cut = rest.length > EXCERPT_LENGTH ? `${rest.slice(0, EXCERPT_LENGTH).replace(/ \S*$/, '')} …` : rest;
  return begin > 0 ? `… ${cut}` : cut;
}

/** Builds a search over sections in steps, so that other requests can proceed. */
export async function createSearch(sections: SearchedSection[]): Promise<(question: string) => Found[]> {
  const index = new MiniSearch<SearchedSection & { id: number }>({
    fields: ['heading', 'guide', 'text'],
    tokenize: wordsOf,
    processTerm,
    searchOptions: {
      boost: { heading: 4, guide: 1.5 },
      prefix: (term) => term.length > 3,
      weights: { prefix: 0.4, fuzzy: 0.3 },
      boostDocument: (id) => sections[Number(id)]?.weight ?? 1,
    },
  });
  const documents = sections.map((section, id) => ({ ...section, id }));
  const lines = sections.map(({ text }) => {
    const line = text.replace(/\s+/g, ' ').trim();
    return { line, lower: line.toLowerCase() };
  });
  await index.addAllAsync(documents, { chunkSize: 50 });

  return (question) => {
    const words = wordsOf(question.slice(0, MAX_QUESTION_LENGTH)).filter((word) => processTerm(word) !== null);
    const query = words.slice(0, MAX_TERMS).join(' ');
    let results = index.search(query);
    // Only as a fallback, because it visits every indexed word.
    if (results.length === 0) {
      const few = words.slice(0, MAX_FUZZY_TERMS).join(' ');
      results = index.search(few, { fuzzy: (term) => (term.length > 3 ? 0.25 : false) });
    }
    return results.slice(0, MAX_RESULTS).flatMap(({ id, terms }) => {
      const [section, text] = [sections[Number(id)], lines[Number(id)]];
      if (section === undefined || text === undefined) return [];
      const { guide, heading, address } = section;
      return [{ guide, heading: heading || guide, address, excerpt: excerptOf(text, terms) }];
    });
  };
}
