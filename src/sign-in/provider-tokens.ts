import { sql } from 'kysely';
import { z } from 'zod';
import { milliseconds } from '../db/sql.ts';
import type { Cipher } from '../domain/cipher.ts';
import type { ProviderPart } from '../services/access/sessions.ts';
import type { ProviderTokens } from './identity-provider.ts';

const MINUTE_MS = 60_000;
/**
 * The interval between checks with a provider whether a person still has the role. Including the duration of a check, a leaver is signed out
 * within 15 minutes.
 */
export const CHECK_EVERY_MS = 10 * MINUTE_MS;
/** Retry interval if it can't be reached. */
export const RETRY_EVERY_MS = MINUTE_MS;
/** How long its last answer is trusted if it can be reached. */
export const REVALIDATE_AFTER_MS = 60 * MINUTE_MS;
/** The same if it can't: people then have to sign in again. */
export const REVALIDATE_WITHOUT_REFRESH_AFTER_MS = 15 * MINUTE_MS;

const Stored = z.object({ refresh: z.string().optional(), id: z.string().optional(), sub: z.string().optional() });

export const encryptTokens = (cipher: Cipher, { refresh, id, sub }: ProviderTokens): Buffer =>
  cipher.encrypt(Buffer.from(JSON.stringify({ refresh, id, sub })));

/** @returns undefined if the key that encrypted them is gone */
export function decryptTokens(cipher: Cipher, stored: Buffer | null): ProviderTokens {
  try {
    const { refresh, id, sub } = Stored.parse(stored === null ? {} : JSON.parse(cipher.decrypt(stored).toString()));
    return { refresh, id, sub };
  } catch {
    return { refresh: undefined, id: undefined, sub: undefined };
  }
}

const inTime = (ms: number) => sql<Date>`now() + ${milliseconds(ms)}`;

/** The provider's part of a session, from a fresh answer. */
export function providerPart(cipher: Cipher, provider: string, tokens: ProviderTokens): ProviderPart {
  const canAsk = tokens.refresh !== undefined;
  return {
    provider,
    tokens: encryptTokens(cipher, tokens),
    checkAt: canAsk ? inTime(CHECK_EVERY_MS) : null,
    validUntil: inTime(canAsk ? REVALIDATE_AFTER_MS : REVALIDATE_WITHOUT_REFRESH_AFTER_MS),
  };
}
