import { expect, test } from '@jest/globals';
import { describePreference, preferenceOf } from '../../../src/domain/evaluations/preference.ts';

const counts = (preferred: number, ties: number, other: number) => [
  { score: 0, count: other },
  { score: 0.5, count: ties },
  { score: 1, count: preferred },
];

test('a preference for neither has a share of a half', () => {
  expect(preferenceOf('judge', counts(20, 10, 20))).toMatchObject({
    evaluator: 'judge',
    examples: 50,
    preferred: 20,
    other_preferred: 20,
    ties: 10,
    share: 0.5,
    p_value: 1,
    verdict: 'within_noise',
  });
});

test('the interval excludes a half exactly if the preference is called real', () => {
  for (let preferred = 0; preferred <= 40; preferred += 1) {
    const found = preferenceOf('judge', counts(preferred, 10, 40 - preferred));
    const { low = 0, high = 1 } = found?.interval ?? {};
    expect(found?.verdict === 'preferred').toBe(low > 0.5);
    expect(found?.verdict === 'other_preferred').toBe(high < 0.5);
    expect((found?.p_value ?? 1) < 0.05).toBe(low > 0.5 || high < 0.5);
  }
});

test('ties and half preferences count half, and few preferences prove nothing', () => {
  expect(
    preferenceOf('judge', [
      { score: 0.75, count: 4 },
      { score: 0.5, count: 4 },
    ]),
  ).toMatchObject({
    share: 0.625,
    preferred: 4,
    ties: 4,
    verdict: 'too_few_differences',
  });
  expect(preferenceOf('judge', counts(6, 100, 0))).toMatchObject({ verdict: 'preferred' });
  expect(preferenceOf('judge', counts(5, 100, 0))).toMatchObject({ verdict: 'too_few_differences' });
  expect(preferenceOf('judge', [])).toBeUndefined();
});

test('is described in a sentence', () => {
  const found = preferenceOf('tone', counts(30, 10, 10));
  if (found === undefined) throw new Error('nothing found');
  expect(describePreference(found)).toMatch(
    /^By "tone", b is better in 30 of 50 examples, a in 10, with 10 ties: 70\.0 % \(95 % CI \d+\.\d to \d+\.\d\), b is preferred\.$/,
  );
});

test('large runs are estimated from sums', () => {
  const small = preferenceOf('judge', counts(900, 300, 800));
  const large = preferenceOf('judge', counts(901, 300, 800));
  expect(large?.interval.low).toBeCloseTo(small?.interval.low ?? 0, 2);
  expect(large?.p_value).toBeCloseTo(small?.p_value ?? 0, 1);
  expect(preferenceOf('judge', counts(2_000, 500, 0))).toMatchObject({ share: 0.9, verdict: 'preferred' });
});
