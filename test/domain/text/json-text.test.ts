import { expect, test } from '@jest/globals';
import { isLargeJson, JsonText, stringifyJson } from '../../../src/domain/text/json-text.ts';

test('texts are inserted unchanged, in their places', () => {
  const value = { a: new JsonText('{"x": [1,  2]}'), list: [new JsonText('1'), 'text', new JsonText('null')], b: 2 };
  expect(stringifyJson(value)).toBe('{"a":{"x": [1,  2]},"list":[1,"text",null],"b":2}');
  expect(stringifyJson(new JsonText('[]'))).toBe('[]');
  expect(stringifyJson({ a: 1 })).toBe('{"a":1}');
});

test('no text is mistaken for a place', () => {
  const inner = stringifyJson({ text: new JsonText('"$& $1 \\" "') });
  expect(JSON.parse(stringifyJson({ a: new JsonText(inner), b: new JsonText('"b"') }))).toEqual({
    a: { text: '$& $1 " ' },
    b: 'b',
  });
});

test('refuses other writers', () => {
  expect(() => JSON.stringify({ a: new JsonText('1') })).toThrow('stringifyJson');
  expect(() => stringifyJson({ a: 1n })).toThrow();
  expect(() => JSON.stringify(new JsonText('1'))).toThrow('stringifyJson');
});

test('separates large values by text and size', () => {
  expect(isLargeJson({ a: 'x'.repeat(50), list: [1, 2, null] }, 100)).toBe(false);
  expect(isLargeJson({ a: 'x'.repeat(101) }, 100)).toBe(true);
  expect(isLargeJson({ a: [new JsonText('x'.repeat(101))] }, 100)).toBe(true);
  expect(
    isLargeJson(
      Array.from({ length: 10_000 }, () => 1),
      100,
    ),
  ).toBe(true);
});
