import { describe, expect, test } from '@jest/globals';
import { faultsOf, scorerOf } from './evaluate.ts';

/** The same word for a reader: composed, and with its marks apart. */
const [COMPOSED, APART] = ['\u00e9t\u00e9', 'e\u0301te\u0301'];

describe.each(['exact_match', 'contains', 'levenshtein'])('%s', (type) => {
  test('treats equivalent forms of characters as the same', () => {
    expect(scorerOf({ type })(COMPOSED, APART).score).toBe(1);
    expect(scorerOf({ type })(APART, COMPOSED).score).toBe(1);
  });

  test.each([
    ['straße', 'STRASSE'],
    ['straße', 'STRA\u1e9eE'],
    ['İstanbul', 'istanbul'],
    ['İSTANBUL', 'i\u0307stanbul'],
    ['I\u0307stanbul', 'İSTANBUL'],
    ['ısparta', 'ISPARTA'],
    ['ΟΔΟΣ', 'οδος'],
    ['\ufb01ne', 'FINE'],
    ['E\u0301', '\u00e9'],
  ])('treats %s and %s as the same only without case', (a, b) => {
    const folded = scorerOf({ type, case_sensitive: false });
    expect([folded(a, b).score, folded(b, a).score]).toEqual([1, 1]);
    expect(scorerOf({ type })(a, b).score).toBeLessThan(1);
  });

  test('ends in bounded time on a letter with a million marks', () => {
    const marks = `a${'\u0301\u0323'.repeat(500_000)}`;
    expect(scorerOf({ type, case_sensitive: false })(marks, marks).score).toBe(1);
  });
});

describe('exact_match', () => {
  const exact = scorerOf({ type: 'exact_match' });

  test('passes the expected text and nothing else', () => {
    expect(exact('Paris', 'Paris')).toEqual({ score: 1, reason: null, problem: null });
    expect(exact('paris', 'Paris')).toEqual({
      score: 0,
      reason: 'the output is "paris" and not "Paris"',
      problem: null,
    });
    expect(exact('Paris.', 'Paris').score).toBe(0);
  });

  test('ignores white space at both ends unless told not to', () => {
    expect(exact('\n Paris ', 'Paris').score).toBe(1);
    expect(scorerOf({ type: 'exact_match', trim: false })('Paris ', 'Paris').score).toBe(0);
  });

  test('can ignore case and runs of white space', () => {
    expect(scorerOf({ type: 'exact_match', case_sensitive: false })('PARIS', 'Paris').score).toBe(1);
    expect(exact('a  b', 'a b').score).toBe(0);
    expect(scorerOf({ type: 'exact_match', normalize_whitespace: true })('a \n b', 'a b').score).toBe(1);
  });

  test('compares an expected value other than text as JSON', () => {
    expect(exact('{ "b": 2, "a": [1, null] }', { a: [1, null], b: 2 }).score).toBe(1);
    expect(exact('[2, 1]', [1, 2]).score).toBe(0);
    expect(exact('42', 42).score).toBe(1);
    expect(exact('42.0', 42).score).toBe(1);
    expect(exact('-0', 0).score).toBe(1);
    expect(exact('null', null).score).toBe(1);
    expect(exact(`["${COMPOSED}"]`, [APART]).score).toBe(1);
    expect(exact('TRUE', true).score).toBe(0);
    expect(scorerOf({ type: 'exact_match', case_sensitive: false })('TRUE', true).score).toBe(1);
  });

  test('does not match a text to the JSON in it', () => {
    expect(exact('"Paris"', 'Paris').score).toBe(0);
    expect(exact('42', '42.0').score).toBe(0);
  });

  test('does not confuse values that read the same', () => {
    expect(exact('["1"]', [1]).score).toBe(0);
    expect(exact('{"a":{"b":1}}', { a: { b: '1' } }).score).toBe(0);
    expect(exact('[[1],2]', [1, [2]]).score).toBe(0);
    expect(exact('{"__proto__":1}', {}).score).toBe(0);
  });
});

describe('contains', () => {
  test('finds a value, or the expected value', () => {
    expect(scorerOf({ type: 'contains', value: 'is' })('this').score).toBe(1);
    expect(scorerOf({ type: 'contains' })('the capital is Paris.', 'Paris').score).toBe(1);
    expect(scorerOf({ type: 'contains' })('it is 42.', 42).score).toBe(1);
    expect(scorerOf({ type: 'contains', case_sensitive: false })('PARIS', 'paris').score).toBe(1);
    expect(scorerOf({ type: 'contains' })('PARIS', 'paris')).toMatchObject({
      score: 0,
      reason: 'not found in the output: "paris"',
    });
  });

  test('finds all or any of several', () => {
    const all = { type: 'contains', values: ['a', 'b'] };
    expect(scorerOf(all)('a').reason).toBe('not found in the output: "b"');
    expect(scorerOf(all)('ba').score).toBe(1);
    expect(scorerOf({ ...all, mode: 'any' })('a').score).toBe(1);
    expect(scorerOf({ ...all, mode: 'any' })('c').score).toBe(0);
    expect(scorerOf({ type: 'contains' })('x and y', ['x', 'y']).score).toBe(1);
    expect(scorerOf({ type: 'contains' })('x', ['x', 'y']).score).toBe(0);
  });

  test('fails if the expected value is empty', () => {
    expect(scorerOf({ type: 'contains' })('x', '')).toMatchObject({ score: 0, problem: 'missing_expected' });
    expect(scorerOf({ type: 'contains' })('x', [])).toMatchObject({ score: 0, problem: 'missing_expected' });
  });

  test('finds text in long, repetitive texts', () => {
    const long = 'ab'.repeat(500_000);
    for (const part of [
      `${'ab'.repeat(4_000)}c`,
      `c${'ab'.repeat(4_000)}`,
      `${'ab'.repeat(2_000)}c${'ab'.repeat(2_000)}`,
    ]) {
      expect(scorerOf({ type: 'contains', value: part })(long).score).toBe(0);
      expect(scorerOf({ type: 'contains', value: part })(`${long}${part}`).score).toBe(1);
      expect(scorerOf({ type: 'contains', value: part })(`${part}${long}`).score).toBe(1);
      expect(scorerOf({ type: 'contains', value: part })(`${long}${part}${long.slice(0, 9_999)}`).score).toBe(1);
    }
  });

  test('is not stalled by many such searches', () => {
    const values = Array.from({ length: 100 }, (_, n) => `b${n}${'ab'.repeat(4_500)}`);
    expect(scorerOf({ type: 'contains', values, mode: 'any' })('ab'.repeat(500_000)).score).toBe(0);
  });

  test('takes value or values', () => {
    expect(faultsOf([{ type: 'contains', value: 'a', values: ['b'] }])).toEqual([
      '0.values: give either value or values, not both',
    ]);
    expect(faultsOf([{ type: 'contains', value: '' }])).toHaveLength(1);
    expect(faultsOf([{ type: 'contains', values: [] }])).toHaveLength(1);
  });
});

test('contains finds a text that ends inside a word, whatever the form of its last letter', () => {
  expect(scorerOf({ type: 'contains', value: 'ΟΔΟΣ', case_sensitive: false })('ΟΔΟΣΗ').score).toBe(1);
});

describe('levenshtein', () => {
  const alike = scorerOf({ type: 'levenshtein' });

  test('is one minus the edits as a share of the longer text', () => {
    expect(alike('kitten', 'sitting')).toEqual({
      score: 0.571429,
      reason: '3 of 7 characters differ',
      problem: null,
    });
    expect(alike('same', 'same')).toEqual({ score: 1, reason: null, problem: null });
    expect(alike('', '')).toMatchObject({ score: 1 });
    expect(alike('', 'abc')).toMatchObject({ score: 0 });
    expect(alike('ab', 'ba')).toMatchObject({ score: 0 });
    expect(alike('aaa', 'aa')).toMatchObject({ score: 0.666667 });
  });

  test('can ignore case', () => {
    expect(alike('ABC', 'abc').score).toBe(0);
    expect(scorerOf({ type: 'levenshtein', case_sensitive: false })('ABC', 'abc').score).toBe(1);
  });

  test('is exact for long texts that differ in one place', () => {
    const text = 'lorem ipsum '.repeat(50_000);
    expect(alike(`${text}x${text.slice(0, 1_000)}`, `${text}${text.slice(0, 1_000)}`).reason).toBe(
      '1 of 601001 characters differ',
    );
  });

  test('counts characters beyond 20,000 as different, and says so', () => {
    const { score, reason } = alike(`a${'x'.repeat(40_000)}b`, `c${'x'.repeat(40_000)}d`);
    expect(score).toBeCloseTo(1 - (1 + 20_002) / 40_002, 6);
    expect(reason).toContain('beyond 20000 characters');
  });

  test('ends in bounded time on the longest texts', () => {
    const [a, b] = [17, 31].map((step) =>
      Array.from({ length: 1_048_576 }, (_, n) => String.fromCharCode(97 + ((n * n * step) % 26))).join(''),
    );
    expect(alike(a ?? '', b ?? '').score).toBeLessThan(1);
  });
});

describe('numeric', () => {
  const numeric = scorerOf({ type: 'numeric' });

  test.each([
    ['42', 42],
    ['The answer is 42.', 42],
    ['$1,234.50', 1234.5],
    ['−5 °C', -5],
    ['+3', '3'],
    ['1e3', 1000],
    ['.5', 0.5],
    ['0.30', '0.3'],
    ['about 12 %', ' 12 '],
    ['9007199254740993', '9007199254740993'],
  ])('finds in %j the number %j', (output, expected) => {
    expect(numeric(output, expected)).toEqual({ score: 1, reason: null, problem: null });
  });

  test.each([
    ['none', 42, 'there is no number in the output "none"'],
    ['43', 42, "the output's number is 43 and not 42"],
    ['9007199254740993', '9007199254740992', "the output's number is 9007199254740993 and not 9007199254740992"],
    ['between 5 and 6', 5, 'the output has 2 numbers, the first being "5", "6"'],
    ['12:30', 12, 'the output has 2 numbers, the first being "12", "30"'],
    ['9'.repeat(200), 9, expect.stringContaining('is not a number that can be compared')],
    ['1e999999999', 1, '"1e999999999" is not a number that can be compared'],
  ])('does not find in %j the number %j', (output, expected, reason) => {
    expect(numeric(output, expected)).toEqual({ score: 0, reason, problem: null });
  });

  test('takes a hyphen for a minus sign only where it can be one', () => {
    expect(numeric('gpt-4', 4).score).toBe(1);
    expect(numeric('(-4)', -4).score).toBe(1);
  });

  test('uses the first or the last of several, or only a bare number', () => {
    const text = 'first 5, then 6';
    expect(scorerOf({ type: 'numeric', extract: 'first' })(text, 5).score).toBe(1);
    expect(scorerOf({ type: 'numeric', extract: 'last' })(text, 6).score).toBe(1);
    expect(scorerOf({ type: 'numeric', extract: 'none' })(' 6\n', 6).score).toBe(1);
    expect(scorerOf({ type: 'numeric', extract: 'none' })('6 apples', 6).score).toBe(0);
  });

  test('allows the larger of the two tolerances, inclusively and without float noise', () => {
    expect(scorerOf({ type: 'numeric', absolute_tolerance: 0.1 })('0.3', 0.2).score).toBe(1);
    expect(scorerOf({ type: 'numeric', absolute_tolerance: 0.1 })('0.31', 0.2).score).toBe(0);
    expect(scorerOf({ type: 'numeric', relative_tolerance: 0.01 })('-101', -100).score).toBe(1);
    expect(scorerOf({ type: 'numeric', relative_tolerance: 0.01 })('-101.1', -100).score).toBe(0);
    expect(scorerOf({ type: 'numeric', relative_tolerance: 0.01, absolute_tolerance: 5 })('105', 100).score).toBe(1);
  });

  test('reports a non-numeric expected value', () => {
    expect(numeric('5', 'five')).toMatchObject({ score: 0, problem: 'missing_expected' });
  });
});
