import { describe, expect, test } from '@jest/globals';
import { faultsOf, scorerOf } from './evaluate.ts';

function found(pattern: string, output: string, options: object = {}): boolean {
  return scorerOf({ type: 'regex', pattern, ...options })(output).score === 1;
}

describe('regex', () => {
  test('finds the pattern anywhere, or only as the whole output', () => {
    expect(found('\\d{4}', 'in 1999.')).toBe(true);
    expect(found('\\d{4}', 'in 1999.', { full_match: true })).toBe(false);
    expect(found('\\d{4}', '1999', { full_match: true })).toBe(true);
    expect(scorerOf({ type: 'regex', pattern: 'x' })('y').reason).toBe('the pattern is nowhere in the output');
  });

  test('has flags', () => {
    expect(found('PARIS', 'paris')).toBe(false);
    expect(found('PARIS', 'paris', { flags: 'i' })).toBe(true);
    expect(found('^b$', 'a\nb')).toBe(false);
    expect(found('^b$', 'a\nb', { flags: 'm' })).toBe(true);
    expect(found('a.b', 'a\nb')).toBe(false);
    expect(found('a.b', 'a\nb', { flags: 'ms' })).toBe(true);
    for (const flags of ['g', 'ii', 'u']) {
      expect(faultsOf([{ type: 'regex', pattern: 'a', flags }])).toEqual([expect.stringMatching(/^0\.flags: /)]);
    }
  });

  test('knows JavaScript’s characters and groups', () => {
    expect(found('(?<year>\\d+)\\/\\u00e9\\cA', '7/é\x01', { full_match: true })).toBe(true);
    expect(found('^\\p{L}+$', 'Ελλάδα')).toBe(true);
  });

  test('counts characters by code points', () => {
    expect(found('^.$', '😀')).toBe(true);
  });

  test.each([
    ['(a)\\1', 'back-reference'],
    ['(?<n>a)\\k<n>', 'back-reference'],
    ['(?=a)', 'lookahead'],
    ['(?<!a)b', 'lookbehind'],
    ['[', 'open class'],
    ['a**', 'double repetition'],
    ['a{1001}', 'repetition above 1,000'],
    ['(a{100}){100}', 'nested repetition above 1,000'],
    ['a{1000}'.repeat(100), 'large expansion'],
    ['a'.repeat(1_001), 'long pattern'],
    ['', 'empty pattern'],
  ])('refuses %s (%s) when the evaluation is created', (pattern) => {
    expect(faultsOf([{ type: 'regex', pattern }])).toEqual([expect.stringMatching(/^0\.pattern: .{10}/)]);
  });

  test('names unsupported syntax', () => {
    expect(faultsOf([{ type: 'regex', pattern: '(?=a)' }])[0]).toMatch(/\(\?=.*no lookaround/);
    expect(faultsOf([{ type: 'regex', pattern: '\\k<n>' }])[0]).toMatch(/\\k .*no back-references/);
  });

  test('is not stalled by a pattern that would backtrack for years', () => {
    expect(found('(a+)+$', `${'a'.repeat(100_000)}!`)).toBe(false);
  });
});
