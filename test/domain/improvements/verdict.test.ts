import { describe, expect, test } from '@jest/globals';
import { leastProvable, neededP, verdictOf } from '../../../src/domain/improvements/verdict.ts';
import { compareRuns } from '../../support/comparison-reference.ts';

const run = (id: string, scores: number[], failed = 0) => ({
  id,
  evaluators: ['exact_match'],
  examples: scores.map((score, index) => ({
    key: String(index),
    score,
    scores: { exact_match: score },
    failed: index < failed,
  })),
});
const ones = (count: number, of = 100) => Array.from({ length: of }, (_, index) => (index < count ? 1 : 0));

const verdict = (base: number[], finalist: number[], { look = 1, failed = 0 } = {}) =>
  verdictOf({
    comparison: compareRuns(run('eval_a', base), run('eval_b', finalist, failed)),
    look,
    candidate: 7,
    base: { evaluationId: 'eval_a', costPerCall: 0.001, length: 100 },
    finalist: { evaluationId: 'eval_b', costPerCall: 0.002, length: 300 },
    checkGain: 0.18,
  });

describe('the p-value that is needed', () => {
  test('falls with each verdict on the same examples', () => {
    expect([1, 2, 3].map(neededP)).toEqual([0.05, 0.025, expect.closeTo(0.00833, 5)]);
  });

  test('leaves 5 % for false improvements over all verdicts', () => {
    const total = Array.from({ length: 10_000 }, (_, index) => neededP(index + 1) / 2).reduce((sum, p) => sum + p, 0);
    expect(total).toBeLessThanOrEqual(0.05);
  });

  test('says what can be proved at all', () => {
    expect(leastProvable(100, 1)).toBe(0.06);
    expect(leastProvable(100, 2)).toBe(0.07);
    expect(leastProvable(100, 3)).toBe(0.08);
    expect(leastProvable(30, 1)).toBe(0.2);
    expect(leastProvable(100, 15)).toBeNull();
    // The limit comes from the test itself.
    for (const look of [1, 2, 3, 6]) {
      const least = Math.round((leastProvable(100, look) ?? 0) * 100);
      expect(verdict(ones(40), ones(40 + least), { look }).result).toBe('improvement');
      expect(verdict(ones(40), ones(40 + least - 1), { look }).result).toBe('no_proof');
    }
  });
});

test('an improvement is stated with its interval, beside where it was chosen', () => {
  expect(verdict(ones(40), ones(52))).toMatchObject({
    result: 'improvement',
    candidate: 7,
    evaluation_id: 'eval_b',
    base_evaluation_id: 'eval_a',
    examples: 100,
    score_base: 0.4,
    score: 0.52,
    difference: 0.12,
    interval: { low: expect.any(Number), high: expect.any(Number) },
    p_needed: 0.05,
    look: 1,
    note: expect.stringMatching(
      /^\+12\.0 points on 100 examples it never saw \(95 % CI \+\d+\.\d to \+\d+\.\d\); \+18\.0 where it was chosen\.$/,
    ),
    by_evaluator: [{ name: 'exact_match', score_a: 0.4, score_b: 0.52 }],
    optimism: 0.06,
    cost_per_call: { base: 0.001, candidate: 0.002 },
    length: { base: 100, candidate: 300 },
  });
});

test('chance, a loss and failures are not improvements', () => {
  expect(verdict(ones(40), ones(43))).toMatchObject({
    result: 'no_proof',
    note: expect.stringMatching(/^No improvement proved: \+3\.0/),
  });
  expect(verdict(ones(40), ones(20))).toMatchObject({
    result: 'regression',
    note: expect.stringMatching(/^Worse: −20\.0/),
  });
  expect(verdict(ones(40), ones(80), { failed: 20 })).toMatchObject({
    result: 'no_proof',
    note: expect.stringContaining('more than a tenth of the examples failed'),
  });
});

test('a later verdict needs more, and says so', () => {
  const second = verdict(ones(40), ones(46), { look: 2 });
  expect(second).toMatchObject({ result: 'no_proof', p_needed: 0.025, look: 2 });
  expect(second.note).toContain('verdict 2 on some of these examples: p = 0.03125 and at most 0.025 is needed');
});
