import { expect, test } from '@jest/globals';
import { newId } from '../../../src/domain/ids.ts';
import { bucketAt, bucketOfId, keyOf, WordSet, wordQuery, wordsOf } from '../../../src/domain/text/search-words.ts';

const vectorOf = (text: string) => {
  const words = new WordSet();
  words.add(text);
  return words.vector('K');
};

test.each([
  ['words, in small letters, once', 'Refund the refund', `'Krefund' 'Kthe'`],
  ['signs separate words', `o'clock order_17-b "x\\y"`, `'Ko' 'Kclock' 'Korder' 'K17' 'Kb' 'Kx' 'Ky'`],
  ['letters of any language', 'Ärger naïve', `'Kärger' 'Knaïve'`],
  ['scripts without spaces, by character', '返金order', `'K返' 'K金' 'Korder'`],
  ['only the beginning of long words', 'a'.repeat(40), `'K${'a'.repeat(32)}'`],
  ['no words', '?! …', ''],
])('%s', (_, text, vector) => expect(vectorOf(text)).toBe(vector));

test('a text of too many words is only a key, which every search finds', () => {
  expect(vectorOf(Array.from({ length: 5_001 }, (_, n) => `w${n}`).join(' '))).toBe(`'K'`);
  expect(wordQuery(wordsOf(['a']), 'K')).toContain(`| 'K'`);
});

test.each([
  ['the beginning of a word', ['Ref'], `('Kref':*) | 'K'`],
  ['a phrase', ['order 17'], `('Korder' & 'K17':*) | 'K'`],
  ['several terms', ['a', 'b c'], `('Ka':* & 'Kb' & 'Kc':*) | 'K'`],
])('searches %s', (_, terms, query) => expect(wordQuery(wordsOf(terms), 'K')).toBe(query));

test('terms without words cannot be searched by words', () => expect(wordsOf(['?', '…'])).toEqual([]));

test('an id is in the bucket of its time', () => {
  const at = new Date('2026-01-31T12:00:00Z');
  expect(bucketOfId(newId(at))).toBe(bucketAt(at.getTime()));
});

test('keys differ by workspace, kind and time, and are short', () => {
  const keys = [
    keyOf('a', 'execution', 1),
    keyOf('b', 'execution', 1),
    keyOf('a', 'trace', 1),
    keyOf('a', 'execution', 2),
  ];
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(key).toMatch(/^[\w-]{5}$/);
});
