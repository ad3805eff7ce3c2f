import { describe, expect, test } from '@jest/globals';
import { faultsOf, scorerOf } from './evaluate.ts';

describe('json_valid', () => {
  test('passes JSON of any kind', () => {
    for (const text of ['{}', ' [1] ', '"a"', 'null', '-1e3']) {
      expect(scorerOf({ type: 'json_valid' })(text).score).toBe(1);
    }
    expect(scorerOf({ type: 'json_valid' })("{'a': 1}").reason).toMatch(/^the output is not JSON: /);
  });

  test('accepts a code block only on request', () => {
    const fenced = '```json\n{"a": 1}\n```';
    expect(scorerOf({ type: 'json_valid' })(fenced).score).toBe(0);
    const lenient = scorerOf({ type: 'json_valid', strip_code_fence: true });
    expect(lenient(fenced).score).toBe(1);
    expect(lenient('```\n[]```').score).toBe(1);
    expect(lenient('[]').score).toBe(1);
    expect(lenient(`Here: ${fenced}`).score).toBe(0);
    expect(lenient('```').score).toBe(0);
    expect(lenient('```\n```').score).toBe(0);
  });

  test('refuses JSON nested too deeply', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(scorerOf({ type: 'json_valid' })(nested(200)).score).toBe(1);
    expect(scorerOf({ type: 'json_valid' })(nested(201)).reason).toBe(
      'the output is JSON, but nested more than 200 levels deep',
    );
  });
});

describe('json_schema', () => {
  const person = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, email: { type: 'string', format: 'email' } },
    required: ['name'],
    additionalProperties: false,
  };

  test('passes valid values and names the first violations', () => {
    const scorer = scorerOf({ type: 'json_schema', schema: person });
    expect(scorer('{"name": "Ada", "email": "ada@example.org"}').score).toBe(1);
    expect(scorer('{"email": "nobody", "x": 1, "y": 2, "z": 3}')).toEqual({
      score: 0,
      reason:
        "the output must have required property 'name'; the output must NOT have additional properties: x; " +
        'the output must NOT have additional properties: y; and 2 more',
      problem: null,
    });
    expect(scorer('{"name": ""}').reason).toBe('/name must NOT have fewer than 1 characters');
    expect(scorer('Ada').reason).toMatch(/^the output is not JSON/);
  });

  test('is draft 2020-12, or draft-07 if the schema says so', () => {
    const tuple = { prefixItems: [{ type: 'string' }], items: false };
    expect(scorerOf({ type: 'json_schema', schema: tuple })('["a", 1]').score).toBe(0);
    const old = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: false,
    };
    expect(scorerOf({ type: 'json_schema', schema: old })('["a", 1]').score).toBe(0);
    expect(scorerOf({ type: 'json_schema', schema: old })('["a"]').score).toBe(1);
    expect(faultsOf([{ type: 'json_schema', schema: { $schema: 'http://json-schema.org/draft-04/schema#' } }])).toEqual(
      [expect.stringMatching(/^0\.schema: \$schema must be /)],
    );
  });

  test('follows only references inside the schema', () => {
    const tree = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    };
    expect(scorerOf({ type: 'json_schema', schema: tree })('{"next": {"next": {}}}').score).toBe(1);
    expect(scorerOf({ type: 'json_schema', schema: tree })('{"next": {"next": 1}}').score).toBe(0);
    expect(faultsOf([{ type: 'json_schema', schema: { $ref: 'http://127.0.0.1/x.json' } }])).toEqual([
      '0.schema: $ref http://127.0.0.1/x.json is not in the schema; references to elsewhere are not followed',
    ]);
  });

  test.each<[string, object, RegExp]>([
    ['an unknown type', { type: 'strin' }, /must be equal to one of the allowed values/],
    ['a misspelt format', { format: 'emial' }, /unknown format "emial"/],
    ['an asynchronous schema', { $async: true }, /\$async/],
    ['a pattern with a back-reference', { pattern: '(a)\\1' }, /no back-references/],
    ['a bad key pattern', { patternProperties: { '(': {} } }, /missing closing \)/],
    ['a schema that refers to itself without end', { $ref: '#' }, /refers to itself without end/],
    ['more than 64 KiB', { description: 'x'.repeat(65_536) }, /longer than 65536 characters/],
    [
      'too many properties in one place',
      { properties: Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`k${n}`, { type: 'string' }])) },
      /too many keywords in one place/,
    ],
    ['too many levels', JSON.parse(`${'{"not":'.repeat(5_000)}{}${'}'.repeat(5_000)}`), /more than 64 levels deep/],
  ])('refuses %s when the evaluation is created', (_, schema, message) => {
    const faults = faultsOf([{ type: 'json_schema', schema }]);
    expect(faults).toEqual([expect.stringMatching(/^0\.schema: /)]);
    expect(faults[0]).toMatch(message);
  });

  test('ignores unknown keywords as annotations', () => {
    expect(scorerOf({ type: 'json_schema', schema: { 'x-note': 1, type: 'object' } })('{}').score).toBe(1);
  });

  test('sees only own properties', () => {
    expect(scorerOf({ type: 'json_schema', schema: { required: ['toString'] } })('{}').score).toBe(0);
    expect(scorerOf({ type: 'json_schema', schema: { required: ['__proto__'] } })('{}').score).toBe(0);
    const closed = { type: 'object', additionalProperties: false };
    expect(scorerOf({ type: 'json_schema', schema: closed })('{"__proto__": 1}').score).toBe(0);
  });

  test('is not stalled by a pattern that would backtrack for years', () => {
    const schemas = [{ pattern: '^(a+)+$' }, { items: { patternProperties: { '^(a+)+$': false } } }];
    const text = `${'a'.repeat(50_000)}!`;
    expect(scorerOf({ type: 'json_schema', schema: schemas[0] })(JSON.stringify(text)).score).toBe(0);
    expect(scorerOf({ type: 'json_schema', schema: schemas[1] })(JSON.stringify([{ [text]: 1 }])).score).toBe(1);
  });

  test('names only the first violation of millions', () => {
    const schema = { items: { allOf: Array.from({ length: 500 }, () => ({ type: 'string' })) } };
    expect(scorerOf({ type: 'json_schema', schema })(`[${'1,'.repeat(200_000)}1]`)).toEqual({
      score: 0,
      reason: '/0 must be string',
      problem: null,
    });
  });

  test('survives long outputs that violate the schema everywhere', () => {
    const schema = { items: { type: 'string' }, uniqueItems: true };
    expect(scorerOf({ type: 'json_schema', schema })(`[${'1,'.repeat(500_000)}1]`).score).toBe(0);
  });
});

describe('json_match', () => {
  const expected = { name: 'Ada', tags: ['x', 'y'], address: { city: 'London', zip: null } };

  test('scores the share of the values that match', () => {
    const scorer = scorerOf({ type: 'json_match' });
    expect(scorer(JSON.stringify(expected), expected)).toEqual({ score: 1, reason: null, problem: null });
    expect(scorer('{"name": "Ada", "tags": ["x", "z"], "address": {"city": "Paris", "zip": null}}', expected)).toEqual({
      score: 0.6,
      reason: '3 of 5 values match; first differences at $.tags[1], $.address.city',
      problem: null,
    });
    expect(scorerOf({ type: 'json_match', partial_credit: false })('{"name": "Ada"}', expected).score).toBe(0);
    expect(scorer('Ada', expected).reason).toMatch(/^the output is not JSON/);
  });

  test('in mode exact counts extra values', () => {
    expect(scorerOf({ type: 'json_match' })('{"a": 1, "b": 2}', { a: 1 }).score).toBe(0.5);
    expect(scorerOf({ type: 'json_match' })('[1, 2, 3]', [1]).score).toBe(0.333333);
    expect(scorerOf({ type: 'json_match' })('{"a": 1}', {}).score).toBe(0);
    expect(scorerOf({ type: 'json_match' })('{"a": {"b": 1, "c": 2}}', { a: 1 }).score).toBe(0);
  });

  test('in mode subset allows more', () => {
    const scorer = scorerOf({ type: 'json_match', mode: 'subset' });
    expect(scorer('{"a": 1, "b": 2}', { a: 1 }).score).toBe(1);
    expect(scorer('[1, 2, 3]', [1]).score).toBe(1);
    expect(scorer('{"a": 1}', {}).score).toBe(1);
    expect(scorer('[]', {}).score).toBe(0);
    expect(scorer('[2, 1]', [1]).score).toBe(0);
  });

  test('can ignore the order of lists', () => {
    const options = { type: 'json_match', ignore_array_order: true };
    expect(scorerOf(options)('[3, [2, 1]]', [[1, 2], 3]).score).toBe(1);
    expect(scorerOf(options)('[1, 1, 2]', [1, 2, 2]).score).toBe(0.666667);
    expect(
      scorerOf({ ...options, mode: 'subset' })('[{"b": 2, "x": 0}, {"a": 1, "x": 0}]', [{ a: 1 }, { b: 2 }]).score,
    ).toBe(1);
    expect(
      scorerOf(options)('[{"a": 1, "b": 9}, {"a": 5, "b": 6}]', [
        { a: 5, b: 7 },
        { a: 1, b: 2 },
      ]).score,
    ).toBe(0.5);
  });

  test('uses the value of the options, or JSON from an expected text', () => {
    expect(scorerOf({ type: 'json_match', value: { a: 1 } })('{"a": 1}').score).toBe(1);
    expect(scorerOf({ type: 'json_match', value: null })('null', 5).score).toBe(1);
    expect(scorerOf({ type: 'json_match' })('{"a": 1}', '{"a": 1}').score).toBe(1);
    expect(scorerOf({ type: 'json_match' })('"Ada"', 'Ada').score).toBe(1);
    expect(scorerOf({ type: 'json_match', value: '1' })('1').score).toBe(0);
    expect(scorerOf({ type: 'json_match', strip_code_fence: true, value: 1 })('```json\n1\n```').score).toBe(1);
  });

  test('sees only own properties', () => {
    const scorer = scorerOf({ type: 'json_match' });
    expect(scorer('{}', JSON.parse('{"__proto__": {}}')).score).toBe(0);
    expect(scorer('{"__proto__": {"a": 1}}', JSON.parse('{"__proto__": {"a": 1}}')).score).toBe(1);
    expect(scorer('{"constructor": 1}', { constructor: 2 }).score).toBe(0);
  });

  test('refuses a value nested too deeply when the evaluation is created', () => {
    const value = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000));
    expect(faultsOf([{ type: 'json_match', value }])).toEqual([
      '0.value: the value is nested more than 200 levels deep',
    ]);
  });

  test('ends in bounded time on large lists in any order, even nested ones', () => {
    const options = { type: 'json_match', ignore_array_order: true, mode: 'subset' };
    const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: n, list: [n, n + 1] }));
    const others = rows.map(({ id }) => ({ id: -id - 1, list: [-id, -id - 2] })).reverse();
    let nested: unknown = 0;
    let twin: unknown = 1;
    for (let depth = 0; depth < 90; depth += 1) {
      nested = [{ v: nested }, depth, 1_000];
      twin = [{ v: twin }, depth, 2_000];
    }
    const sevens = Array.from({ length: 500_000 }, (_, n) => n % 7);
    expect(scorerOf(options)(JSON.stringify(others), rows).score).toBeLessThan(0.5);
    expect(scorerOf(options)(`[${'1,'.repeat(520_000)}1]`, sevens).score).toBe(0.142858);
    expect(scorerOf({ ...options, value: nested })(JSON.stringify(twin)).score).toBeGreaterThan(0.4);
  });
});
