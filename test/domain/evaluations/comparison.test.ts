import { describe, expect, test } from '@jest/globals';
import { EvaluationComparison } from '../../../src/api/evaluations/compare-schema.ts';
import { estimateDifference } from '../../../src/domain/evaluations/paired-difference.ts';
import { type ComparedExample, type ComparedRun, compareRuns } from '../../support/comparison-reference.ts';

function example(key: string, score: number, rest: Partial<ComparedExample> = {}): ComparedExample {
  return { key, score, scores: { exact_match: score }, failed: false, ...rest };
}

function run(id: string, examples: ComparedExample[], evaluators = ['exact_match']): ComparedRun {
  return { id, evaluators, examples };
}

/** A run with the examples `0`, `1`, … */
function scores(id: string, values: number[]): ComparedRun {
  return run(
    id,
    values.map((score, index) => example(String(index), score)),
  );
}

/** Pseudorandom numbers in 0..1, from a hash of the seed and the position. */
function noise(count: number, seed: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    let mixed = Math.imul(seed, 0x85ebca6b) ^ Math.imul(index + 1, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  });
}

describe('comparing two runs', () => {
  test('lists regressions and improvements, the largest first, and counts the rest', () => {
    const a = run('A', [example('x', 1), example('y', 0.5), example('z', 0.5), example('w', 0.2), example('old', 1)]);
    const b = run('B', [example('w', 0.4), example('z', 0.5), example('y', 0.4), example('x', 0), example('new', 1)]);
    const comparison = compareRuns(a, b);
    expect(comparison).toMatchObject({
      a: 'A',
      b: 'B',
      examples_compared: 4,
      score_a: 0.55,
      score_b: 0.325,
      difference: -0.225,
      regressions: {
        total: 2,
        examples: [
          { key: 'x', seq_a: 0, seq_b: 3, score_a: 1, score_b: 0, difference: -1 },
          { key: 'y', score_a: 0.5, score_b: 0.4, difference: -0.1 },
        ],
      },
      improvements: { total: 1, examples: [{ key: 'w', difference: 0.2 }] },
      unchanged: 1,
      only_in_a: { total: 1, keys: ['old'] },
      only_in_b: { total: 1, keys: ['new'] },
    });
    expect(EvaluationComparison.parse(comparison)).toEqual(comparison);
  });

  test('ignores float noise', () => {
    expect(compareRuns(scores('A', [0.3]), scores('B', [0.1 + 0.2])).unchanged).toBe(1);
  });

  test('lists up to the limit and counts all', () => {
    const comparison = compareRuns(scores('A', Array(50).fill(1)), scores('B', Array(50).fill(0)), 10);
    expect(comparison.regressions).toMatchObject({ total: 50 });
    expect(comparison.regressions.examples).toHaveLength(10);
    const apart = compareRuns(scores('A', []), scores('B', Array(50).fill(0)), 10);
    expect(apart.only_in_b).toMatchObject({ total: 50 });
    expect(apart.only_in_b.keys).toHaveLength(10);
  });

  test('matches examples of the same key in their order', () => {
    const a = run('A', [example('x', 0.1), example('x', 0.2), example('x', 0.3)]);
    const b = run('B', [example('x', 0.1), example('x', 0.9)]);
    expect(compareRuns(a, b)).toMatchObject({
      examples_compared: 2,
      unchanged: 1,
      improvements: { total: 1, examples: [{ score_a: 0.2, score_b: 0.9 }] },
      only_in_a: { total: 1, keys: ['x'] },
    });
  });

  test('compares each evaluator, even one in only one run', () => {
    const a = run(
      'A',
      [example('x', 1, { scores: { p: 1, q: 0.5 } }), example('y', 1, { scores: { p: 1, q: 1 } })],
      ['p', 'q'],
    );
    const b = run(
      'B',
      [example('x', 1, { scores: { p: 0, r: 1 } }), example('y', 0, { scores: {}, failed: true })],
      ['p', 'r'],
    );
    expect(compareRuns(a, b).by_evaluator).toEqual([
      { name: 'p', score_a: 1, score_b: 0, difference: -1, regressions: 2, improvements: 0, unchanged: 0 },
      { name: 'q', score_a: 0.75, score_b: null, difference: null, regressions: 0, improvements: 0, unchanged: 0 },
      { name: 'r', score_a: null, score_b: 0.5, difference: null, regressions: 0, improvements: 0, unchanged: 0 },
    ]);
  });

  test('says which differences come from failed calls', () => {
    const a = run('A', [example('x', 1)]);
    const b = run('B', [example('x', 0, { failed: true })]);
    const comparison = compareRuns(a, b);
    expect(comparison.regressions.examples).toMatchObject([{ failed_a: false, failed_b: true }]);
    expect(comparison.note).toContain('Failed calls, counted as 0: 0 in a, 1 in b.');
  });
});

describe('the verdict', () => {
  test('calls a drop over many examples likely real', () => {
    const before = noise(200, 1).map((value) => (value < 0.8 ? 1 : 0));
    const after = noise(200, 1).map((value, n) => (value < 0.8 && n % 5 !== 0 ? 1 : 0));
    const { verdict, note, interval } = compareRuns(scores('A', before), scores('B', after));
    expect(verdict).toBe('regression');
    expect(note).toMatch(
      /^Likely a real regression: the mean score fell by \d+\.\d points \(95 % CI −\d+\.\d to −\d+\.\d, p < 0\.001, over 200 examples\)\.$/,
    );
    expect(interval).toMatchObject({ method: 'sign_flip' });
    expect(compareRuns(scores('B', after), scores('A', before)).verdict).toBe('improvement');
  });

  test('calls as many gains as losses noise', () => {
    const { verdict, note, p_value } = compareRuns(scores('A', noise(200, 1)), scores('B', noise(200, 2)));
    expect(verdict).toBe('within_noise');
    expect(note).toMatch(/^The difference of [+−]\d\.\d points is within noise: 95 % CI −\d\.\d to \+\d\.\d, p = /);
    expect(p_value).toBeGreaterThan(0.05);
  });

  test('calls few differences noise, however large', () => {
    const { verdict, note } = compareRuns(
      scores('A', Array(100).fill(1)),
      scores('B', [0, 0, 0, ...Array(97).fill(1)]),
    );
    expect(verdict).toBe('too_few_differences');
    expect(note).toBe(
      'The difference of −3.0 points over 100 examples comes from only 3 of them: too few to rule out chance.',
    );
  });

  test('reports that nothing differs or can be compared', () => {
    expect(compareRuns(scores('A', [1, 0]), scores('B', [1, 0]))).toMatchObject({
      verdict: 'no_change',
      difference: 0,
      p_value: 1,
      note: 'No difference: every score is the same over 2 examples.',
    });
    const apart = compareRuns(run('A', [example('x', 1)]), run('B', [example('y', 1)]));
    expect(apart).toMatchObject({ verdict: 'nothing_in_common', difference: null, interval: null, p_value: null });
    expect(EvaluationComparison.parse(apart)).toEqual(apart);
  });
});

/** The interval, the p-value, the verdict and its words agree. */
function expectAgreement(differences: readonly number[]): void {
  const { verdict, interval, p_value, note } = compareRuns(
    scores(
      'A',
      differences.map((difference) => Math.max(0, -difference)),
    ),
    scores(
      'B',
      differences.map((difference) => Math.max(0, difference)),
    ),
  );
  const { low, high } = interval ?? { low: Number.NaN, high: Number.NaN };
  const isReal = low > 0 || high < 0;
  expect([differences, (p_value ?? 1) < 0.05]).toEqual([differences, isReal]);
  expect([differences, verdict === 'regression', verdict === 'improvement']).toEqual([differences, high < 0, low > 0]);
  const shown = /95 % CI (\S+) to (\S+), p/.exec(note);
  if (shown === null) return;
  const [from, to] = shown.slice(1).map((text) => Number(text.replace('−', '-')));
  expect([Math.sign(from ?? 0), Math.sign(to ?? 0)]).toEqual([Math.sign(low), Math.sign(high)]);
}

describe('verdict and interval', () => {
  test('agree if seven examples are not enough', () => {
    const before = [0.95, 0.95, 0.02, 0.02, 0.01, 0.01, 0];
    const comparison = compareRuns(scores('A', before), scores('B', [0, 0, 0, 0, 0, 0, 0.02]));
    expect(comparison).toMatchObject({
      verdict: 'within_noise',
      difference: -0.277143,
      interval: { low: -0.95, high: 0.005, method: 'sign_flip' },
      p_value: 0.109375,
      note: 'The difference of −27.7 points is within noise: 95 % CI −95.0 to +0.5, p = 0.109, over 7 examples.',
    });
  });

  test('agree for few and many examples, with ties, skew and differences that are all the same', () => {
    for (const size of [1, 5, 6, 7, 12, 14, 30, 200, 2_001])
      for (const shift of [0, 0.1, 0.3]) {
        const random = noise(size, size + 100 * shift);
        expectAgreement(random.map((value) => Math.round((value - 0.5 - shift / 2) * 1e6) / 1e6));
        expectAgreement(random.map((value) => (value < shift ? -1 : 0)));
        expectAgreement(random.map((value) => (value < shift ? 1 : value > 0.95 ? -1 : 0)));
        expectAgreement(random.map((value) => -(Math.round(value ** 8 * 100) / 100)));
        expectAgreement(random.map(() => -shift));
      }
  });

  test('agree if few of very many examples differ', () => {
    const few = (count: number) => Array.from({ length: 3_000 }, (_, index) => (index < count ? -1 : 0));
    expectAgreement(few(5));
    expectAgreement(few(6));
    expect(estimateDifference(few(5))).toMatchObject({ method: 'normal', high: 0, pValue: 0.0625 });
  });
});

describe('estimating a mean difference', () => {
  test('is the same each time and in any order', () => {
    const differences = noise(300, 3).map((value) => value - 0.45);
    expect(estimateDifference(differences)).toEqual(estimateDifference(differences.toReversed()));
  });

  test('is as wide as in theory', () => {
    const differences = noise(1_000, 4).map((value) => value - 0.5);
    const { mean, low, high } = estimateDifference(differences);
    const halfWidth = (1.96 * Math.sqrt(1 / 12)) / Math.sqrt(1_000);
    expect(Math.abs(high - mean - halfWidth)).toBeLessThan(halfWidth * 0.15);
    expect(Math.abs(mean - low - halfWidth)).toBeLessThan(halfWidth * 0.15);
  });

  test('covers the true mean about 95 times in 100, and is as rarely wrong', () => {
    let covered = 0;
    let falseAlarms = 0;
    for (let trial = 0; trial < 100; trial += 1) {
      const { low, high, pValue } = estimateDifference(noise(30, 1_000 + trial).map((value) => value - 0.5));
      if (low <= 0 && high >= 0) covered += 1;
      if (pValue < 0.05) falseAlarms += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(88);
    expect(falseAlarms).toBeLessThanOrEqual(12);
  });

  test('has exact p-values for few differences', () => {
    expect(estimateDifference([1]).pValue).toBe(1);
    expect(estimateDifference([1, 1, 1, 1, 1]).pValue).toBe(0.0625);
    expect(estimateDifference([-0.1, -0.1, -0.1, -0.1, -0.1, -0.1, 0, 0]).pValue).toBe(0.03125);
    expect(estimateDifference([...Array(6).fill(-0.1), ...Array(300).fill(0)]).pValue).toBe(0.03125);
    expect(estimateDifference([0, 0]).pValue).toBe(1);
  });

  test('agrees with itself at the switch to the normal approximation', () => {
    const differences = noise(2_001, 5).map((value) => value - 0.52);
    const normal = estimateDifference(differences);
    const resampled = estimateDifference(differences.slice(1));
    expect(normal.method).toBe('normal');
    expect(resampled.method).toBe('sign_flip');
    expect(normal.low).toBeCloseTo(resampled.low, 2);
    expect(normal.high).toBeCloseTo(resampled.high, 2);
    expect(Math.abs(normal.pValue - resampled.pValue)).toBeLessThan(0.02);
  });

  test('takes very many examples', () => {
    expect(estimateDifference(noise(500_000, 6))).toMatchObject({ method: 'normal' });
  });

  test('rules out nothing with five examples', () => {
    expect(estimateDifference([-0.2, -0.3, -0.1, -0.2, -0.4])).toMatchObject({ low: -1, high: 1, pValue: 0.0625 });
  });

  test('leaves room for unsampled examples even if all differ alike', () => {
    expect(estimateDifference(Array(7).fill(-1))).toMatchObject({ low: -1, high: -0.590384, pValue: 0.015625 });
    expect(estimateDifference(Array(20).fill(0))).toMatchObject({ low: -0.168433, high: 0.168433, pValue: 1 });
    expect(estimateDifference(Array(3_000).fill(-0.5))).toMatchObject({
      low: -0.5,
      high: -0.499386,
      method: 'normal',
      pValue: 0,
    });
  });
});
