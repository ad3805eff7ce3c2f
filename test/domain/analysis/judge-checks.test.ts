import { describe, expect, test } from '@jest/globals';
import type { Check, CheckMetric } from '../../../src/domain/analysis/check.ts';
import { judgeChecks, overallVerdict } from '../../../src/domain/analysis/judge-checks.ts';
import { type ArmSums, addSums, latencyBucket, NO_SUMS } from '../../../src/domain/analysis/sums.ts';

const errors = (count: number, executions: number): ArmSums => ({ ...NO_SUMS, executions, errors: count });

function arm(executions: number, share: number, scale: number): ArmSums {
  const values = (mean: number, deviation: number) => ({
    count: executions,
    sum: executions * mean,
    squares: executions * (mean ** 2 + deviation ** 2),
  });
  const latency = {
    [latencyBucket(1_000 * scale)]: Math.floor(executions * 0.9),
    [latencyBucket(2_000 * scale)]: Math.ceil(executions * 0.1),
  };
  return {
    executions,
    errors: Math.round(executions * share),
    latency,
    cost: values(0.01 * scale, 0.01),
    scores: { tone: values(1 - share, 0.1) },
  };
}

function judgeOne(check: Check, candidate: ArmSums, stable?: ArmSums) {
  const [result] = judgeChecks([check], { candidate, stable }, { scoreRanges: { tone: { min: 0, max: 1 } } });
  if (result === undefined) throw new Error('no result');
  return result;
}

describe('judging a check', () => {
  test('fails a candidate with more errors, with all numbers', () => {
    const result = judgeOne(
      { metric: 'error_rate', against: 'stable', max_increase: 0 },
      errors(31, 508),
      errors(92, 4592),
    );
    expect(result).toMatchObject({
      metric: 'error_rate',
      against: 'stable',
      verdict: 'failed',
      candidate: { estimate: 31 / 508, n: 508 },
      stable: { estimate: 92 / 4592, n: 4592 },
      scale: 'absolute',
      confidence: 0.95,
      limit: { lower: null, upper: 0 },
    });
    expect(result.note).toBe(
      'Error rate: 6.1 % in the candidate (508 executions), 2.0 % in stable (4,592 executions): +4.1 points (95 % confidence sequence +0.2 to +10.3), allowed up to 0.0 points: failed.',
    );
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  test('passes an equal one with enough data, and not before', () => {
    const check: Check = { metric: 'error_rate', against: 'stable', max_increase: 0.02 };
    expect(judgeOne(check, errors(4, 200), errors(36, 1_800)).verdict).toBe('inconclusive');
    expect(judgeOne(check, errors(60, 3_000), errors(540, 27_000)).verdict).toBe('passed');
  });

  test('compares with a number if the check does', () => {
    const check: Check = { metric: 'error_rate', against: 0.05, max_increase: 0 };
    const result = judgeOne(check, errors(20, 1_000));
    expect(result).toMatchObject({ verdict: 'passed', stable: null, difference: 0.02 - 0.05 });
    expect(judgeOne(check, errors(100, 1_000)).verdict).toBe('failed');
    expect(result.note).toMatch(
      /^Error rate: 2\.0 % in the candidate \(1,000 executions\), against 5\.0 %: −3\.0 points /,
    );
  });

  test('uses latency and cost as a share of the compared ones', () => {
    const [candidate, stable] = [arm(2_000, 0, 1.5), arm(18_000, 0, 1)];
    for (const metric of ['latency_p95', 'cost_mean'] as const) {
      const result = judgeOne({ metric, against: 'stable', max_increase: 0.1 }, candidate, stable);
      expect(result).toMatchObject({ verdict: 'failed', scale: 'relative', limit: { lower: null, upper: 0.1 } });
      expect(result.difference).toBeCloseTo(0.5, 1);
      expect(judgeOne({ metric, against: 'stable', max_increase: 1 }, candidate, stable).verdict).toBe('passed');
    }
    expect(judgeOne({ metric: 'latency_p95', against: 2_000, max_increase: 0 }, candidate).verdict).toBe('failed');
    expect(judgeOne({ metric: 'cost_mean', against: 0.02, max_increase: 0 }, candidate).verdict).toBe('passed');
  });

  test('uses scores by name, with or without a range, even if missing', () => {
    const [candidate, stable] = [arm(2_000, 0.2, 1), arm(18_000, 0.1, 1)];
    const check: Check = { metric: 'score:tone', against: 'stable', max_decrease: 0.02 };
    expect(judgeOne(check, candidate, stable)).toMatchObject({
      verdict: 'failed',
      limit: { lower: -0.02, upper: null },
    });
    expect(judgeChecks([check], { candidate, stable })[0]?.verdict).toBe('failed');
    expect(judgeOne({ ...check, metric: 'score:constructor' }, candidate, stable)).toMatchObject({
      verdict: 'inconclusive',
      candidate: { estimate: null, n: 0 },
      difference: null,
      lower: null,
      upper: null,
    });
  });

  test('ignores the range if values are outside it', () => {
    const outside = { ...NO_SUMS, scores: { tone: { count: 100, sum: 300, squares: 950 } } };
    const result = judgeOne({ metric: 'score:tone', against: 2, max_decrease: 0 }, outside);
    expect(result.verdict).toBe('passed');
    expect(result.candidate.estimate).toBe(3);
  });

  test.each<CheckMetric>(['error_rate', 'latency_p95', 'cost_mean', 'score:tone'])(
    'has a verdict of %s that its bounds bear out, whatever was seen',
    (metric) => {
      for (const executions of [0, 1, 2, 29, 30, 31, 100, 5_000])
        for (const share of [0, 0.03, 0.5, 1])
          for (const max of [0, 0.05, 1]) {
            for (const against of ['stable', 0.5] as const) {
              const check: Check = { metric, against, max_increase: max, max_decrease: max };
              const { verdict, lower, upper } = judgeOne(
                check,
                arm(executions, share, 1 + share),
                arm(10 * executions, 0.03, 1),
              );
              const [low, high] = [lower ?? Number.NEGATIVE_INFINITY, upper ?? Number.POSITIVE_INFINITY];
              expect(low).toBeLessThanOrEqual(high);
              const isOutside = low > max || high < -max;
              const isInside = low >= -max && high <= max;
              expect(verdict).toBe(isOutside ? 'failed' : isInside ? 'passed' : 'inconclusive');
              if (executions === 0) expect(verdict).not.toBe('failed');
            }
          }
    },
  );

  test('rounds no bound into the limit', () => {
    const { note } = judgeOne(
      { metric: 'error_rate', against: 'stable', max_increase: 0 },
      errors(30, 508),
      errors(92, 4592),
    );
    expect(note).toMatch(/sequence \+0\.0?[1-9]/);
  });

  test('refuses senseless checks', () => {
    const judge = (check: Check) => () => judgeOne(check, NO_SUMS, NO_SUMS);
    expect(judge({ metric: 'error_rate', against: 'stable' })).toThrow('A check needs max_increase or max_decrease.');
    expect(judge({ metric: 'error_rate', against: 'stable', max_increase: -1 })).toThrow(RangeError);
    expect(judge({ metric: 'cost_mean', against: 0, max_increase: 1 })).toThrow('"stable" or a number above 0');
  });
});

describe('judging several checks', () => {
  const candidate = errors(31, 508);
  const stable = errors(92, 4592);
  const strict: Check = { metric: 'error_rate', against: 'stable', max_increase: 0.0012 };

  test('shares the risk of error', () => {
    expect(judgeChecks([strict], { candidate, stable })[0]?.verdict).toBe('failed');
    const results = judgeChecks([strict, { ...strict, max_increase: 0.5 }], { candidate, stable });
    expect(results.map(({ confidence }) => confidence)).toEqual([0.975, 0.975]);
    expect(results.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'passed']);
    expect(judgeChecks([strict], { candidate, stable }, { alpha: 0.01 })[0]?.confidence).toBe(0.99);
  });

  test('fails with one, passes with all', () => {
    const verdict = (...verdicts: ('passed' | 'failed' | 'inconclusive')[]) =>
      overallVerdict(verdicts.map((each) => ({ verdict: each })));
    expect(verdict('passed', 'failed', 'inconclusive')).toBe('failed');
    expect(verdict('passed', 'inconclusive')).toBe('inconclusive');
    expect(verdict('passed', 'passed')).toBe('passed');
    expect(verdict()).toBe('passed');
  });
});

describe('sums', () => {
  test('of minutes add up to those of hours', () => {
    const [a, b] = [
      arm(100, 0.1, 1),
      { ...arm(50, 0.2, 2), scores: { ...arm(50, 0.2, 1).scores, other: { count: 1, sum: 2, squares: 4 } } },
    ];
    const both = addSums([a, b]);
    expect(both).toMatchObject({ executions: 150, errors: 20, cost: { count: 150 } });
    expect(both.scores.other).toEqual({ count: 1, sum: 2, squares: 4 });
    expect(both.scores.tone?.count).toBe(150);
    expect(Object.values(both.latency).reduce((sum, count) => sum + count, 0)).toBe(150);
    expect(addSums([])).toEqual(NO_SUMS);
  });
});
