import { describe, expect, test } from '@jest/globals';
import type { ScoredExample } from '../../src/evaluators/evaluator.ts';
import { exampleOf, faultsOf, measuredBy } from './evaluate.ts';

const call = (name: string, input: object = {}) => ({ id: 'c', name, input: { ...input } });
const madeOf = (...names: string[]) => names.map((name) => call(name));

describe('tool_calls', () => {
  const scoreOf = (options: object, toolCalls: ScoredExample['toolCalls'], expected?: ScoredExample['expected']) =>
    measuredBy({ type: 'tool_calls', ...options })(exampleOf('', { toolCalls: toolCalls ?? [], expected }));
  const expects = (...names: string[]) => ({ value: names.map((name) => ({ name })) });

  test.each<[string, object, string[], number]>([
    ['all of them', expects('a', 'b'), ['a', 'b'], 1],
    ['in any order', expects('a', 'b'), ['b', 'a'], 1],
    ['in another order than they must be', { ...expects('a', 'b'), ordered: true }, ['b', 'a'], 0.5],
    ['in order', { ...expects('a', 'b', 'c'), ordered: true, allow_extra: true }, ['a', 'x', 'b', 'c'], 1],
    ['one of two', expects('a', 'b'), ['a'], 0.5],
    ['one of two, without credit for it', { ...expects('a', 'b'), partial_credit: false }, ['a'], 0],
    ['one too many', expects('a'), ['a', 'b'], 0.5],
    ['one too many, which is allowed', { ...expects('a'), allow_extra: true }, ['a', 'b'], 1],
    ['the same twice for one', expects('a'), ['a', 'a'], 0.5],
    ['one for the same twice', expects('a', 'a'), ['a'], 0.5],
    ['none, as expected', { value: [] }, [], 1],
    ['one where none is expected', { value: [] }, ['a'], 0],
  ])('%s', (_, options, made, score) => {
    expect(scoreOf(options, madeOf(...made))).toMatchObject({ score, problem: null });
  });

  test('inputs are compared by the option', () => {
    const value = [{ name: 'a', input: { city: 'Paris' } }];
    const made = [call('a', { city: 'Paris', unit: 'C' })];
    expect(scoreOf({ value }, made).score).toBe(0);
    expect(scoreOf({ value, input: 'subset' }, made).score).toBe(1);
    expect(scoreOf({ value, input: 'ignore' }, [call('a')]).score).toBe(1);
    expect(scoreOf({ value: [{ name: 'a' }] }, made).score).toBe(1);
    expect(scoreOf({ value }, [call('a', { city: 'Rome' })])).toMatchObject({
      score: 0,
      reason: '0 of 1 expected tool calls match; the output has "a" and not "a"',
    });
  });

  test('the best pairs count: a call that fits two expected ones goes to the one without another', () => {
    const value = [{ name: 'a' }, { name: 'a', input: { n: 1 } }];
    expect(scoreOf({ value }, [call('a', { n: 1 }), call('a', { n: 2 })]).score).toBe(1);
    expect(scoreOf({ value }, [call('a', { n: 2 }), call('a', { n: 1 })]).score).toBe(1);
  });

  test.each([
    [[{ name: 'a', input: {} }]],
    [{ name: 'a', input: {} }],
    [{ tool_calls: [{ name: 'a', input: {} }] }],
    ['[{"name": "a", "input": {}}]'],
  ])("the example's expected value can be %j", (expected) => {
    expect(scoreOf({}, madeOf('a'), expected).score).toBe(1);
  });

  test('an expected value of another form is named as one', () => {
    for (const expected of [undefined, 'hello', 7, { name: 7 }])
      expect(scoreOf({}, madeOf('a'), expected)).toMatchObject({ score: 0, problem: 'missing_expected' });
  });

  test('a flood of calls is not examined, and 1,000 are fast', () => {
    const many = Array.from({ length: 1_000 }, (_, n) => call('a', { n }));
    const value = Array.from({ length: 100 }, (_, n) => ({ name: 'a', input: { n: 999 - n } }));
    expect(scoreOf({ value, allow_extra: true }, many).score).toBe(1);
    expect(scoreOf({ value }, [...many, call('a')])).toMatchObject({ score: 0, problem: 'too_large' });
  });
});

test('latency is 1 up to the limit', () => {
  const scoreOf = (modelMs: number | null) =>
    measuredBy({ type: 'latency', at_most_ms: 500 })(exampleOf('x', { modelMs }));
  expect(scoreOf(500)).toEqual({ score: 1, reason: null, problem: null });
  expect(scoreOf(501)).toMatchObject({ score: 0, reason: 'the call to the model took 501 ms, more than 500' });
  expect(scoreOf(null)).toMatchObject({ score: 0, problem: 'not_measured' });
});

test('cost is 1 up to the limit, without float noise', () => {
  const scoreOf = (costUsd: string | null) =>
    measuredBy({ type: 'cost', at_most_usd: 0.3 })(exampleOf('x', { costUsd }));
  expect(scoreOf('0.3')).toEqual({ score: 1, reason: null, problem: null });
  expect(scoreOf('0.30000000000000001')).toMatchObject({ score: 0 });
  expect(scoreOf(null)).toMatchObject({ score: 0, problem: 'not_measured' });
});

test('bad options are refused by position', () => {
  expect(faultsOf([{ type: 'latency', at_most_ms: 0 }])[0]).toMatch(/^0.at_most_ms: /);
  expect(faultsOf([{ type: 'cost', at_most_usd: -1 }])[0]).toMatch(/^0.at_most_usd: /);
  expect(faultsOf([{ type: 'tool_calls', value: [{ input: {} }] }])).toEqual(['0.value.0.name: must be a string']);
});
