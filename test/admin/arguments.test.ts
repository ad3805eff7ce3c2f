import { expect, test } from '@jest/globals';
import { parseEmail, parseExpiry, parseName, parseScopes } from '../../src/admin/arguments.ts';

test('accepts valid input', () => {
  expect(parseName(' Acme, Inc. ')).toBe('Acme, Inc.');
  expect(parseEmail('owner@localhost')).toBe('owner@localhost');
  expect(parseScopes('write, read,read')).toEqual(['read', 'write']);
  expect(parseExpiry('2100-01-31')).toEqual(new Date('2100-01-31T00:00:00Z'));
  expect(parseExpiry('2100-01-31T12:00:00+02:00')).toEqual(new Date('2100-01-31T10:00:00Z'));
});

test.each([
  [parseName, ' ', 'A name must not be empty.'],
  [parseName, 'x'.repeat(101), 'A name has at most 100 characters.'],
  [parseName, 'a\u0000b', 'A name must not contain control characters.'],
  [parseEmail, 'nobody', 'It must be an e-mail address.'],
  [parseScopes, ',', 'Name at least one scope; the scopes are read, execute, score, ingest, write, publish, admin.'],
  [parseExpiry, 'soon', 'It must be a time such as 2027-01-31T12:00:00Z, or a date.'],
  [parseExpiry, '2100-01-31T12:00:00', 'It must be a time such as 2027-01-31T12:00:00Z, or a date.'],
  [parseExpiry, '2020-01-01', 'It must be in the future.'],
])('refuses with a sentence (%#)', (parse: (text: string) => unknown, text, sentence) => {
  expect(() => parse(text)).toThrow(sentence);
});
