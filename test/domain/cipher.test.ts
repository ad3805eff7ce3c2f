import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createCipher } from '../../src/domain/cipher.ts';

const [one, two] = [randomBytes(32), randomBytes(32)];

test.each([0, 1, 16, 100_000])('%i bytes come back unchanged', (length) => {
  const plain = randomBytes(length);
  const cipher = createCipher([one]);
  expect(cipher.decrypt(cipher.encrypt(plain)).equals(plain)).toBe(true);
});

test('the same text is never sealed the same way twice, and is hidden', () => {
  const cipher = createCipher([one]);
  const [a, b] = [cipher.encrypt(Buffer.from('secret text')), cipher.encrypt(Buffer.from('secret text'))];
  expect(a.equals(b)).toBe(false);
  expect(a.includes('secret')).toBe(false);
});

test('a new key in front encrypts, and the old one still decrypts', () => {
  const sealed = createCipher([one]).encrypt(Buffer.from('old'));
  const rotated = createCipher([two, one]);
  expect(rotated.decrypt(sealed).toString()).toBe('old');
  const fresh = rotated.encrypt(Buffer.from('new'));
  expect(createCipher([two]).decrypt(fresh).toString()).toBe('new');
  expect(() => createCipher([one]).decrypt(fresh)).toThrow('not configured');
});

test('a single changed bit is noticed, wherever it is', () => {
  const cipher = createCipher([one]);
  const sealed = cipher.encrypt(Buffer.from('text'));
  for (let index = 0; index < sealed.length; index++) {
    const changed = Buffer.from(sealed);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => cipher.decrypt(changed)).toThrow();
  }
  for (const length of [0, 3, 10, 31, sealed.length - 1])
    expect(() => cipher.decrypt(sealed.subarray(0, length))).toThrow();
});

test('no key at all is an error', () => {
  expect(() => createCipher([])).toThrow('No encryption key');
});
