import { z } from 'zod';
import type { Cipher } from '../../domain/cipher.ts';

/** The secret columns of a row of `webhooks`, as they are stored. */
export interface SealedColumns {
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_expires_at: Date | null;
  headers: Buffer | null;
}

/** What they hold. */
export interface OpenedColumns {
  /** Those that sign at a time, the newest first. */
  secrets: [string, string?];
  /** Headers of the caller's own. */
  headers: Record<string, string>;
}

const Headers = z.record(z.string(), z.string());

/** A signing secret as it is stored. */
export function sealSecret(cipher: Cipher, secret: string): Buffer {
  return cipher.encrypt(Buffer.from(secret));
}

/** A caller's own headers as they are stored; null where there are none. */
export function sealHeaders(cipher: Cipher, headers: Record<string, string>): Buffer | null {
  return Object.keys(headers).length === 0 ? null : cipher.encrypt(Buffer.from(JSON.stringify(headers)));
}

/** @returns what {@link sealHeaders} was given */
export function openHeaders(cipher: Cipher, sealed: Buffer | null): Record<string, string> {
  return sealed === null ? {} : Headers.parse(JSON.parse(cipher.decrypt(sealed).toString()));
}

/**
 * @param at the time at which they are used: a previous secret expires
 * @throws Error where the key that they were encrypted with is not configured
 */
export function openColumns(cipher: Cipher, row: SealedColumns, at: Date): OpenedColumns {
  const { previous_secret: previous, previous_secret_expires_at: until } = row;
  const secret = cipher.decrypt(row.secret).toString();
  const overlaps = previous !== null && until !== null && until > at;
  return {
    secrets: overlaps ? [secret, cipher.decrypt(previous).toString()] : [secret],
    headers: openHeaders(cipher, row.headers),
  };
}
