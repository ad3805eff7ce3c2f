import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import type { Estimate } from '../../../src/domain/scores/interval.ts';
import { kappaOf } from '../../../src/domain/scores/kappa.ts';
import { alphaOf } from '../../../src/domain/scores/krippendorff.ts';
import { spearmanOf } from '../../../src/domain/scores/rank-correlation.ts';

interface Expected {
  value: number;
  lower: number;
  upper: number;
}

interface Vectors {
  kappa: ({ title: string; table: number[][] } & Record<'none' | 'linear' | 'quadratic', Expected>)[];
  spearman: ({ title: string; pairs: [number, number][] } & Expected)[];
  alpha: ({ title: string; units: number[][] } & Record<'nominal' | 'interval', Expected>)[];
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../vectors/agreement.json', import.meta.url), 'utf8'));

function expectEstimate({ value, interval }: Estimate, expected: Expected): void {
  expect(value).toBeCloseTo(expected.value, 10);
  expect(interval?.lower).toBeCloseTo(expected.lower, 8);
  expect(interval?.upper).toBeCloseTo(expected.upper, 8);
}

/** A table as pairs: the row and the column of each subject. */
const pairsOf = (table: number[][]) =>
  table.flatMap((counts, row) =>
    counts.flatMap((count, column) => Array.from({ length: count }, () => [row, column] as const)),
  );

test.each(vectors.kappa.map((vector) => [vector.title, vector] as const))('kappa: %s', (_, vector) => {
  for (const weights of ['none', 'linear', 'quadratic'] as const)
    expectEstimate(kappaOf(pairsOf(vector.table), vector.table.length, weights), vector[weights]);
});

test.each(vectors.spearman.map((vector) => [vector.title, vector] as const))('Spearman: %s', (_, vector) => {
  expectEstimate(spearmanOf(vector.pairs), vector);
});

test.each(vectors.alpha.map((vector) => [vector.title, vector] as const))('alpha: %s', (_, vector) => {
  for (const level of ['nominal', 'interval'] as const) expectEstimate(alphaOf(vector.units, level), vector[level]);
});

test('impossible estimates are absent', () => {
  const none = { value: null, interval: null };
  expect(kappaOf([], 0)).toEqual(none);
  expect(kappaOf([], 2)).toEqual(none);
  expect(kappaOf(pairsOf([[7]]), 2)).toEqual(none);
  expect(spearmanOf([])).toEqual(none);
  expect(
    spearmanOf([
      [1, 1],
      [1, 2],
    ]),
  ).toEqual(none);
  expect(
    spearmanOf([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
    ]),
  ).toEqual({ value: 1, interval: null });
  expect(alphaOf([[1], [2]], 'nominal')).toEqual(none);
  expect(
    alphaOf(
      [
        [1, 1],
        [1, 1],
      ],
      'interval',
    ),
  ).toEqual(none);
});

test('weights are for few categories', () => {
  expect(kappaOf([[0, 199]], 200, 'linear').value).toBe(0);
  expect(() => kappaOf([[0, 200]], 201, 'linear')).toThrow('201 categories are too many');
});

test('numbers far from zero keep their alpha', () => {
  const units = [
    [1, 2],
    [2, 2],
    [5, 4],
    [3, 3],
  ];
  const near = alphaOf(units, 'interval').value;
  expect(
    alphaOf(
      units.map((unit) => unit.map((value) => value + 1e9)),
      'interval',
    ).value,
  ).toBeCloseTo(near ?? 0, 6);
});
