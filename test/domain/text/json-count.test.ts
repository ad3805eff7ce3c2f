import { expect, test } from '@jest/globals';
import { countJsonValues } from '../../../src/domain/text/json-count.ts';

const count = (text: string, most?: number) => countJsonValues(Buffer.from(text), most);

test.each([
  ['1', 1],
  ['-1.5e+3', 1],
  [' null ', 1],
  ['"a"', 1],
  ['""', 1],
  ['[]', 1],
  ['{}', 1],
  ['[1,2, 3 ]', 4],
  ['[{},[],"",0,true,false,null]', 8],
  ['{"a":1,"b":{"c":[]}}', 4],
  ['{ "a" : "b" }', 2],
  ['["[1,2]", "{\\"a\\": 1}"]', 3],
  ['["\\\\", "\\\\\\"", "\\"", "x\\\\"]', 5],
  ['["ä", "€:,[", "😀"]', 4],
])('%s has %i values', (text, values) => {
  expect(count(text)).toBe(values);
});

function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + valuesOf(each), 1);
}

const TEXTS = ['', '"', '\\', '\\"', ':', '[', 'a'.repeat(50), '\u2028', '{"x":1}'] as const;
const below = (limit: number) => Math.floor(Math.random() * limit);
const anyText = () => `${TEXTS[below(TEXTS.length)]}${TEXTS[below(TEXTS.length)]}`;

function anyValue(depth = 0): unknown {
  const kind = below(depth > 4 ? 4 : 6);
  if (kind === 0) return anyText();
  if (kind === 1) return Math.random() * 1e6 - 5e5;
  if (kind === 2) return below(2) === 0;
  if (kind === 3) return null;
  const items = Array.from({ length: below(5) }, () => anyValue(depth + 1));
  return kind === 4 ? items : Object.fromEntries(items.map((item, n) => [`${n}${anyText()}`, item]));
}

test('agrees with what parsing gives', () => {
  for (let round = 0; round < 200; round += 1) {
    const value = anyValue();
    for (const spaces of [0, 2]) expect(count(JSON.stringify(value, null, spaces))).toBe(valuesOf(value));
  }
});

test('ends early, and at the end of invalid JSON', () => {
  expect(count(`[${'1,'.repeat(1_000)}1]`, 10)).toBe(11);
  for (const text of ['"', '"\\', '["a', '{"a":', '\\"']) expect(count(text)).toBeLessThanOrEqual(3);
});
