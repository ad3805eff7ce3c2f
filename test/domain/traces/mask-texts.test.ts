import { expect, test } from '@jest/globals';
import { BUILT_IN_MASKS, mapTexts, maskText } from '../../../src/domain/traces/mask-texts.ts';

test.each([
  ['secret', `AKIA${'A1'.repeat(8)}`],
  ['secret', `ghp_${'a'.repeat(36)}`],
  ['secret', `xoxb-${'1'.repeat(12)}`],
  ['secret', `AIza${'x'.repeat(35)}`],
  ['secret', `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}`],
  ['secret', `-----BEGIN RSA PRIVATE KEY-----\n${'A/b+'.repeat(100)}\n-----END RSA PRIVATE KEY-----`],
  ['email', 'first.last+tag@mail.example.co.uk'],
  ['card', '5500-0000-0000-0004'],
  ['phone', '+1 (555) 010-9999'],
  ['phone', '555-123-4567'],
  ['ip', '2001:db8::8a2e:370:7334'],
] as const)('%s: %s', (mask, text) => {
  expect(maskText(`a ${text}, b`, [mask])).toBe(`a [${mask}], b`);
});

test('lookalikes stay', () => {
  for (const text of [
    'order 2026-01-31 12:00:00',
    'v1.2.3 and 1.2.3.4.5',
    'sk-learn is a library',
    '1234567890123456',
    'a@b',
    'tokens: 1024',
    'std::vector<int>',
  ])
    expect(maskText(text, BUILT_IN_MASKS)).toBe(text);
});

test('members named like a secret are masked at any depth', () => {
  const value = { headers: { Authorization: 'x', 'x-api-key': ['y'] }, rest: [{ password: 'z', passwords: 'kept' }] };
  expect(mapTexts(value, (text, name) => maskText(text, ['secret'], name))).toEqual({
    headers: { Authorization: '[secret]', 'x-api-key': ['[secret]'] },
    rest: [{ password: '[secret]', passwords: 'kept' }],
  });
});

test('takes time in proportion to the text', () => {
  for (const piece of [
    '-----BEGIN PRIVATE KEY-----',
    'eyJ',
    'sk-',
    'a',
    '1 ',
    '1',
    '1.',
    ':',
    'a@',
    'a.',
    '+1',
    '(12) ',
    'Bearer ',
  ]) {
    const text = piece.repeat(Math.ceil((256 * 1024) / piece.length));
    const since = performance.now();
    maskText(text, BUILT_IN_MASKS);
    expect([piece, performance.now() - since < 500]).toEqual([piece, true]);
  }
});
