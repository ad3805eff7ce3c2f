import { expect, test } from '@jest/globals';
import {
  consensusOf,
  distanceOf,
  type Judged,
  judgeAgreement,
  reviewerAgreement,
} from '../../../src/domain/scores/agreement.ts';

const times = (count: number, judge: number | string, people: number | string): Judged[] =>
  Array.from({ length: count }, () => ({ judge, people }));

test('several people count by majority, or median', () => {
  expect(consensusOf('numeric', [5, 1, 2])).toBe(2);
  expect(consensusOf('numeric', [1, 2])).toBe(1.5);
  expect(consensusOf('boolean', [1, 0, 1])).toBe(1);
  expect(consensusOf('categorical', ['a', 'b'])).toBeNull();
});

test.each([
  [
    'no better than a coin',
    [...times(20, 1, 1), ...times(20, 1, 0), ...times(20, 0, 1), ...times(20, 0, 0)],
    false,
    /^No better than chance/,
  ],
  [
    'the opposite',
    [...times(5, 1, 1), ...times(25, 1, 0), ...times(25, 0, 1), ...times(5, 0, 0)],
    false,
    /^Worse than chance/,
  ],
  ['always yes', [...times(40, 1, 1), ...times(20, 1, 0)], false, /^No better than chance/],
  [
    'good',
    [...times(40, 1, 1), ...times(3, 1, 0), ...times(2, 0, 1), ...times(40, 0, 0)],
    true,
    /^Better than chance: almost perfect/,
  ],
  ['few', times(19, 1, 1), null, /have scored 19 subjects/],
  ['raters never differ', times(50, 1, 1), null, /^Cannot be determined/],
])('a judge that is %s', (_, judged, better, verdict) => {
  const agreement = judgeAgreement('boolean', judged);
  expect(agreement.measures.map(({ name }) => name)).toEqual(['cohen_kappa']);
  expect([agreement.betterThanChance, agreement.verdict]).toEqual([better, expect.stringMatching(verdict)]);
});

test('numbers in steps have weighted kappas, too, and others do not', () => {
  const steps = [...times(10, 1, 1), ...times(10, 2, 2.5), ...times(10, 4, 5)];
  const names = judgeAgreement('numeric', steps).measures.map(({ name }) => name);
  expect(names).toEqual(['spearman_rho', 'weighted_kappa_linear', 'weighted_kappa_quadratic']);
  expect(judgeAgreement('numeric', [...steps, { judge: 0.1, people: 0 }]).measures).toHaveLength(1);
  expect(judgeAgreement('numeric', [...steps, { judge: 1e9, people: 0 }]).measures).toHaveLength(1);
  expect(judgeAgreement('numeric', steps).meanDistance).toBeCloseTo(0.5);
});

test('ordered categories have weighted kappas: near ones count more than far ones', () => {
  const order = ['bad', 'fair', 'good'];
  const near = [...times(20, 'bad', 'bad'), ...times(20, 'fair', 'good'), ...times(20, 'good', 'good')];
  const [kappa, linear, quadratic] = judgeAgreement('categorical', near, order).measures;
  expect(kappa?.value).toBeLessThan(linear?.value ?? 0);
  expect(linear?.value).toBeLessThan(quadratic?.value ?? 0);
  expect(distanceOf('categorical', { judge: 'bad', people: 'good' }, order)).toBe(2);
  expect(distanceOf('categorical', { judge: 'bad', people: 'good' })).toBe(1);
});

test('as many categories as values are counted without a table', () => {
  // As a table these are 1.6e9 cells.
  const values = Array.from({ length: 40_000 }, (_, index) => `category ${index}`);
  const same = judgeAgreement(
    'categorical',
    values.map((value) => ({ judge: value, people: value })),
  );
  expect(same.measures).toMatchObject([{ name: 'cohen_kappa', value: 1 }]);
  const other = judgeAgreement(
    'categorical',
    values.slice(1).map((value, index) => ({ judge: value, people: values[index] ?? '' })),
  );
  expect(other.measures[0]?.value).toBeCloseTo(0, 3);
  expect(
    reviewerAgreement(
      'categorical',
      values.map((value) => [value, value]),
    ).value,
  ).toBe(1);
});

test('reviewers agree by category or by distance', () => {
  expect(reviewerAgreement('categorical', [['a', 'a'], ['b', 'b'], ['c']]).value).toBe(1);
  expect(
    reviewerAgreement('boolean', [
      [0, 1],
      [1, 0],
    ]).value,
  ).toBeLessThan(0);
  expect(
    reviewerAgreement('numeric', [
      [1, 1.1],
      [5, 5.1],
    ]).value,
  ).toBeGreaterThan(0.99);
});
