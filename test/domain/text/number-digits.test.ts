import { describe, expect, test } from '@jest/globals';
import { findLongNumber, keepsDigits } from '../../../src/domain/prompt-rules/number-digits.ts';
import { digitFault, parseKeepingDigits } from '../../../src/domain/text/json-digits.ts';

test.each([
  ['9007199254740992', true],
  ['9007199254740993', false],
  ['-9223372036854775808', false],
  ['12345678901234567890', false],
  // A double, which is written back as 36028797018963970.
  ['36028797018963968', false],
  ['10000000000000000000', true],
  ['1e21', true],
  ['1E400', false],
  ['1e-400', false],
  ['1.7976931348623157e308', true],
  ['5e-324', true],
  ['0.8444218515250481', true],
  // As PHP and C write 0.7 and 0.1.
  ['0.69999999999999996', true],
  ['0.1000000000000000055511151231257827', true],
  ['0.1000000000000000055511151231257828', false],
  ['3.141592653589793238', false],
  ['1.50000000000000000000', true],
  ['-0.0000000000000000000', true],
  ['1'.repeat(2_000), false],
])('the digits of %s are kept: %s', (source, isKept) => {
  expect(keepsDigits(source)).toBe(isKept);
});

describe('the first long number of a JSON text', () => {
  test.each([
    ['12345678901234567890', ''],
    ['{"a":[1,{"b c":[0,-12345678901234567890]}]}', 'a.1.b c.1'],
    ['{"a":{"b":1},"c,\\"":"k","d":[[],[{}, 1e999]]}', 'd.1.1'],
    ['[{"x":[1,2]},"12345678901234567890\\\\",12345678901234567890]', '2'],
  ])('of %s is at "%s"', (json, path) => {
    expect(digitFault(json)?.path).toBe(path);
  });

  test.each([
    '{"id":"12345678901234567890"}',
    '["\\"1e999\\\\"]',
    '{"12345678901234567890":1}',
    '[1234567890.12345]',
    '[]',
  ])('is not in %s', (json) => {
    expect(findLongNumber(json)).toBeUndefined();
  });

  test.each([
    '{"a":12345678901234567890',
    '"12345678901234567890',
    '}]12345678901234567890',
    ':,:12345678901234567890',
  ])('is searched in invalid JSON: %s', (text) => {
    expect(() => findLongNumber(text)).not.toThrow();
  });
});

test('JSON is written as it was read', () => {
  const json = '{"id":12345678901234567890,"list":[1,1.5,3.141592653589793238],"text":"9007199254740993"}';
  expect(JSON.stringify(parseKeepingDigits(json))).toBe(json);
});
