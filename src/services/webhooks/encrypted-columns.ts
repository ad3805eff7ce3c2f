import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Tables } from '../../db/tables.ts';
import type { Cipher } from '../../domain/cipher.ts';

/** The encrypted columns of a row of `webhooks`. */
export type EncryptedColumns = Pick<
  Selectable<Tables['webhooks']>,
  'secret' | 'previous_secret' | 'previous_secret_expires_at' | 'headers'
>;

/** The decrypted columns. */
export interface DecryptedColumns {
  /** The signing secrets, newest first. */
  secrets: [string, string?];
  /** The webhook's custom headers. */
  headers: Record<string, string>;
}

const Headers = z.record(z.string(), z.string());

/** A signing secret in its stored form. */
export function encryptSecret(cipher: Cipher, secret: string): Buffer {
  return cipher.encrypt(Buffer.from(secret));
}

/** Custom headers in their stored form; null if there are none. */
export function encryptHeaders(cipher: Cipher, headers: Record<string, string>): Buffer | null {
  return Object.keys(headers).length === 0 ? null : cipher.encrypt(Buffer.from(JSON.stringify(headers)));
}

/** @returns the input of {@link encryptHeaders} */
export function decryptHeaders(cipher: Cipher, encrypted: Buffer | null): Record<string, string> {
  return encrypted === null ? {} : Headers.parse(JSON.parse(cipher.decrypt(encrypted).toString()));
}

/**
 * @param at the time at which they are used: a previous secret expires
 * @throws Error if the key used to encrypt them is not configured
 */
export function decryptColumns(cipher: Cipher, row: EncryptedColumns, at: Date): DecryptedColumns {
  const { previous_secret: previous, previous_secret_expires_at: until } = row;
  const secret = cipher.decrypt(row.secret).toString();
  const overlaps = previous !== null && until !== null && until > at;
  return {
    secrets: overlaps ? [secret, cipher.decrypt(previous).toString()] : [secret],
    headers: decryptHeaders(cipher, row.headers),
  };
}
