import { expect, test } from '@jest/globals';
import {
  agreementInWords,
  type JudgedExample,
  peopleAgreement,
} from '../../../src/domain/improvements/people-agreement.ts';

/** Examples with these values by people, of the base and of the candidate. */
const judged = (values: [JudgedExample['expected'], string, string][], score: string | null = 'kind') =>
  values.map(([expected, base, candidate]): JudgedExample => ({ expected, score, base, candidate }));
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

test('booleans have the kappa of both prompts over the same examples, with its interval', () => {
  const agreement = peopleAgreement(
    judged([
      ...times(20, [true, 'true', ' True\n'] as [boolean, string, string]),
      ...times(5, [true, 'true', 'false'] as [boolean, string, string]),
      ...times(10, [false, 'true', 'true'] as [boolean, string, string]),
      ...times(15, [false, 'true', 'false'] as [boolean, string, string]),
    ]),
  );
  // Cohen's kappa of the table 20, 5, 10, 15: (0.7 - 0.5) / 0.5.
  expect(agreement).toEqual({
    score: 'kind',
    examples: 50,
    base: [{ name: 'cohen_kappa', value: 0, interval: expect.anything() }],
    candidate: [{ name: 'cohen_kappa', value: expect.closeTo(0.4, 9), interval: expect.anything() }],
  });
  expect(agreement && agreementInWords(agreement)).toMatch(
    /^ Agreement with people on "kind": Cohen's kappa 0\.40 \(95 % CI 0\.\d\d to 0\.\d\d\), the base 0\.00\.$/,
  );
});

test('an answer that is no category disagrees; numbers without a usable answer are left out', () => {
  expect(
    peopleAgreement(
      judged([
        ['good', 'good', 'Good enough!'],
        ['bad', 'bad', 'bad'],
      ]),
    ),
  ).toMatchObject({
    examples: 2,
    base: [{ name: 'cohen_kappa', value: 1 }],
    candidate: [{ value: expect.closeTo(1 / 3, 9) }],
  });
  const numbers = peopleAgreement(
    judged([
      [1, '1', '1'],
      [2, '2', '3'],
      [3, 'three', '3'],
      [4, '', '5'],
      [5, '5', '5'],
    ]),
  );
  expect(numbers).toMatchObject({ examples: 3, base: [{ name: 'spearman_rho', value: 1 }, {}, {}] });
});

test.each([
  ['no example', []],
  ['values that are not by people', judged([[true, 'true', 'true']], null)],
  ['several scores', [...judged([[true, 'true', 'true']]), ...judged([[true, 'true', 'true']], 'other')]],
  [
    'several types',
    judged([
      [true, 'true', 'true'],
      ['x', 'x', 'x'],
    ]),
  ],
  ['lists', judged([[['x'], 'x', 'x']])],
])('there is none for %s', (_, examples) => {
  expect(peopleAgreement(examples)).toBeNull();
});

test('a judge that always says the same has no measure, and no sentence', () => {
  const agreement = peopleAgreement(judged(times(4, [true, 'true', 'true'] as [boolean, string, string])));
  expect(agreement?.candidate).toEqual([{ name: 'cohen_kappa', value: null, interval: null }]);
  expect(agreement && agreementInWords(agreement)).toBe('');
});
