import { describe, expect, test } from '@jest/globals';
import type { JsonValue } from '../../src/domain/text/json.ts';
import { bytesOf, MAX_RESULT_BYTES, namedCuts, pieceOf, shortenToFit, valueAt } from '../../src/mcp/results/fit.ts';

const deep = (levels: number): JsonValue => (levels === 0 ? 'x'.repeat(50) : [deep(levels - 1)]);
const wide = (count: number, value: JsonValue): JsonValue =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}/~`, value]));

const LARGE: Record<string, JsonValue> = {
  'a long text': { text: 'ä'.repeat(500_000) },
  'a text of characters in two halves': { text: '🙂'.repeat(100_000) },
  'many short texts': { texts: Array.from({ length: 20_000 }, () => 'short') },
  'many fields': wide(20_000, 1),
  'many long fields': wide(3_000, 'long '.repeat(200)),
  'lists of lists': Array.from({ length: 100 }, () => Array.from({ length: 100 }, () => deep(10))),
  'long keys': wide(40, wide(40, wide(40, 'x'))),
};

describe.each(Object.entries(LARGE))('%s', (_, value) => {
  test('is shortened to fit, and the cut parts are named', () => {
    const fitted = shortenToFit(value);
    expect(fitted).toBeDefined();
    const named = namedCuts(fitted?.cuts ?? []);
    expect(bytesOf({ result: fitted?.value, ...named })).toBeLessThanOrEqual(MAX_RESULT_BYTES);
    expect(named?.cut.length).toBeGreaterThan(0);
    for (const cut of named?.cut ?? []) {
      expect(cut.shown).toBeLessThan(cut.of);
      expect(valueAt(value, cut.part)).toBeDefined();
    }
    expect(JSON.stringify(fitted?.value)).not.toMatch(/\\ud[89a-f]/);
  });

  test('can be read to its end in pieces that fit', () => {
    const whole = Array.isArray(value) || typeof value !== 'object' || value === null ? value : Object.values(value)[0];
    const part =
      whole === value ? '' : `/${Object.keys(Object(value))[0]?.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const total = typeof whole === 'string' || Array.isArray(whole) ? whole.length : 0;
    let read = 0;
    let text = '';
    for (let from: number | null = 0; from !== null && total > 0; ) {
      const piece = pieceOf(part, whole as JsonValue, from);
      expect(bytesOf(piece)).toBeLessThanOrEqual(MAX_RESULT_BYTES);
      const shown = piece?.value;
      if (typeof shown === 'string') text += shown;
      read += typeof shown === 'string' || Array.isArray(shown) ? shown.length : 0;
      from = piece?.next_part_from ?? null;
    }
    expect(read).toBe(total);
    if (typeof whole === 'string') expect(text).toBe(whole);
  });
});

test('text that fits is intact', () => {
  const value = { a: ['b', { c: null }], d: 'x'.repeat(30_000) };
  expect(shortenToFit(value)).toEqual({ value, cuts: [] });
  expect(namedCuts([])).toBeUndefined();
});

test('a broken pointer returns nothing', () => {
  const value = { a: [{ 'b/c~': 1 }] };
  expect(valueAt(value, '/a/0/b~1c~0')).toBe(1);
  for (const pointer of ['/a/1', '/a/-1', '/a/0/toString', '/__proto__', 'a', '/a/length'])
    expect([pointer, valueAt(value, pointer)]).toEqual([pointer, undefined]);
  expect(pieceOf('/a', [1, 2, 3], 7)).toMatchObject({ value: null, next_part_from: null });
  expect(pieceOf('/a', 7, 0)).toBeUndefined();
});
