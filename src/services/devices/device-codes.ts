import { hash, randomBytes, randomInt } from 'node:crypto';

/** Consonants except Y: no ambiguous letters, and no words (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LETTERS = 8;

/** The code that a program shows to a person: `ABCD-EFGH`, one of 20^8. */
export function newUserCode(): string {
  const letters = Array.from({ length: USER_CODE_LETTERS }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

/** The code that a program keeps secret: 256 random bits. */
export const newDeviceCode = (): string => randomBytes(32).toString('base64url');

export const hashDeviceCode = (code: string): Buffer => hash('sha256', code, 'buffer');

/** Ignores how a person types the code: lowercase, or without the dash. */
export const hashUserCode = (code: string): Buffer =>
  hash('sha256', code.toUpperCase().replaceAll(/[\s-]/g, ''), 'buffer');
