import { expect, test } from '@jest/globals';
import { idsOfPrefix } from '../../../src/domain/ids.ts';
import { parseSearchTerms } from '../../../src/domain/text/search-terms.ts';

test.each([
  ['words', ' refund  order ', ['refund', 'order']],
  ['a phrase', '"order 17" back', ['order 17', 'back']],
  ['a phrase without a space before it', 'a"b c"', ['a', 'b c']],
  ['the same twice', 'a a "a"', ['a']],
])('%s', (_, text, terms) => expect(parseSearchTerms(text)).toEqual(terms));

test.each(['', '  ', '""', '" "', 'a "b', '1 2 3 4 5 6 7 8 9 10 11'])('%j is refused, with the reason', (text) =>
  expect(parseSearchTerms(text)).toEqual(expect.any(String)),
);

test('the start of an id is a span of ids', () => {
  expect(idsOfPrefix('execution', 'exec_0198f0aa-7e')).toEqual({
    from: '0198f0aa-7e00-0000-0000-000000000000',
    to: '0198f0aa-7eff-ffff-ffff-ffffffffffff',
  });
  expect(idsOfPrefix('execution', 'exec_0198f0aa-')).toMatchObject({ from: expect.stringMatching(/^0198f0aa-0000/) });
  for (const text of ['', 'exec_', 'eval_01', '0198', 'exec_0198F', 'exec_0198f0aa7', `exec_${'0'.repeat(40)}`])
    expect([text, idsOfPrefix('execution', text)]).toEqual([text, undefined]);
});
