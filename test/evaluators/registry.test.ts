import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { EvaluatorsSchema } from '../../src/evaluators/registry.ts';
import { faultsOf, scorerOf } from './evaluate.ts';

describe('the evaluators of a request', () => {
  test('default to an exact match of weight 1', () => {
    expect(EvaluatorsSchema.parse(undefined)).toEqual([
      {
        type: 'exact_match',
        name: 'exact_match',
        weight: 1,
        case_sensitive: true,
        trim: true,
        normalize_whitespace: false,
      },
    ]);
  });

  test('are one to ten', () => {
    expect(faultsOf([])).toHaveLength(1);
    expect(faultsOf(Array.from({ length: 10 }, (_, n) => ({ type: 'json_valid', name: `n${n}` })))).toEqual([]);
    expect(faultsOf(Array.from({ length: 11 }, (_, n) => ({ type: 'json_valid', name: `n${n}` })))).toHaveLength(1);
  });

  test('must have unique names', () => {
    expect(faultsOf([{ type: 'json_valid' }, { type: 'contains', name: 'json_valid' }])).toEqual([
      '1.name: evaluator 0 already has the name "json_valid": use a unique name for each evaluator',
    ]);
  });

  test.each(['', 'a b', 'é', 'x'.repeat(65), '__proto__'])('cannot be named %j', (name) => {
    expect(faultsOf([{ type: 'json_valid', name }])).toEqual([expect.stringMatching(/^0\.name: /)]);
  });

  test('need a positive, bounded weight', () => {
    expect(faultsOf([{ type: 'json_valid', weight: 1_000 }])).toEqual([]);
    for (const weight of [0, -1, 1_000.5, Number.POSITIVE_INFINITY, '1']) {
      expect(faultsOf([{ type: 'json_valid', weight }])).toEqual([expect.stringMatching(/^0\.weight: /)]);
    }
  });

  test('are refused with an unknown type or a misspelt option', () => {
    expect(faultsOf([{ type: 'vibes' }])).toEqual([expect.stringMatching(/^0\.type: /)]);
    expect(faultsOf([{ type: 'exact_match', case_sensitiv: false }])).toEqual([
      expect.stringContaining('case_sensitiv'),
    ]);
  });

  test('are all checked at once', () => {
    const faults = faultsOf([
      { type: 'regex', name: 'a', pattern: '(' },
      { type: 'json_schema', name: 'b', schema: { type: 'strin' } },
      { type: 'regex', name: 'c', pattern: '(a)\\1' },
    ]);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['0.pattern', '1.schema', '2.pattern']);
  });

  test('can be shown as JSON Schema', () => {
    for (const io of ['input', 'output'] as const) {
      expect(z.toJSONSchema(EvaluatorsSchema, { io, unrepresentable: 'any' })).toMatchObject({
        type: 'array',
        maxItems: 10,
      });
    }
  });
});

describe('any scoring evaluator', () => {
  test.each([
    [{ type: 'exact_match' }],
    [{ type: 'contains' }],
    [{ type: 'json_match' }],
    [{ type: 'numeric' }],
    [{ type: 'levenshtein' }],
    [{ type: 'tool_calls' }],
  ])('%j gives 0 and says so if the example has no expected value', (options) => {
    expect(scorerOf(options)('anything')).toEqual({
      score: 0,
      reason: 'the example has no expected value',
      problem: 'missing_expected',
    });
  });

  const hostile: [string, string][] = [
    ['NUL', '\0\0'],
    ['lone surrogates', '\uD800 \uDC00'],
    ['keys of the prototype', '{"__proto__": {"a": 1}, "constructor": null, "toString": 1}'],
    ['JSON 5,000 levels deep', '['.repeat(5_000) + ']'.repeat(5_000)],
    ['JSON 500,000 levels deep', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['1 MiB of spaces', ' '.repeat(1_048_576)],
    ['1 MiB of backquotes', '`'.repeat(1_048_576)],
    ['1 MiB of digits and commas', '1,111'.repeat(200_000)],
    ['nothing', ''],
  ];
  const evaluators = [
    { type: 'exact_match', normalize_whitespace: true, case_sensitive: false },
    { type: 'contains', case_sensitive: false },
    { type: 'regex', pattern: '(a+)+$' },
    { type: 'json_valid', strip_code_fence: true },
    { type: 'json_schema', schema: { required: ['x'] }, strip_code_fence: true },
    { type: 'json_match', mode: 'subset', ignore_array_order: true, strip_code_fence: true },
    { type: 'numeric' },
    { type: 'levenshtein', case_sensitive: false },
    { type: 'length', at_least: 2_000_000, unit: 'words' },
    { type: 'tool_calls' },
    { type: 'latency', at_most_ms: 1 },
    { type: 'cost', at_most_usd: 1 },
  ];
  describe.each(hostile)('given %s', (_, output) => {
    test.each(evaluators)('$type answers, with a reason that PostgreSQL takes', (options) => {
      const { score, reason } = scorerOf(options)(output, '{"x": [1, 2, {"y": "\uD800"}]}');
      expect(score).toBeLessThanOrEqual(1);
      expect(reason === null).toBe(score === 1);
      const shown = reason ?? '';
      expect(shown.length).toBeLessThanOrEqual(500);
      expect(shown).not.toContain('\0');
      expect(shown.isWellFormed()).toBe(true);
    });
  });

  test('does not examine an output above 1 MiB', () => {
    expect(scorerOf({ type: 'contains', value: 'x' })('x'.repeat(1_048_577))).toMatchObject({
      score: 0,
      problem: 'too_large',
    });
  });

  test.each(
    evaluators.filter(
      ({ type }) =>
        type !== 'regex' && !type.startsWith('json_s') && !['json_valid', 'length', 'latency', 'cost'].includes(type),
    ),
  )('$type does not crash on an expected value 5,000 levels deep', (options) => {
    const expected = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
    expect(scorerOf(options)('x', expected)).toMatchObject({ score: 0, problem: 'too_large' });
  });
});
