import type { Logger } from 'pino';
import type { Query, SystemDatabase } from '../db/database.ts';
import type { Cipher } from '../domain/cipher.ts';
import { publicId } from '../domain/ids.ts';

const BATCH_SIZE = 100;
const NO_ID = '00000000-0000-0000-0000-000000000000';

const ofAnotherKey = (column: string) => `substr(${column}, 1, length($1::bytea)) <> $1::bytea`;
const SEALED_OTHERWISE = `(${['secret', 'previous_secret', 'headers'].map(ofAnotherKey).join(' or ')})`;

const TAKE = {
  text: `select id, secret, previous_secret_expires_at <= now() as expired, previous_secret, headers from webhooks
         where id > $2 and (previous_secret_expires_at <= now() or ${SEALED_OTHERWISE})
         order by id limit ${BATCH_SIZE} for update skip locked`,
};
const STORE = {
  text: `update webhooks set secret = $2, previous_secret = $3, headers = $4,
           previous_secret_expires_at = case when $5 then null else previous_secret_expires_at end
         where id = $1`,
};
const LEFT = { text: `select count(*)::int as count from webhooks where ${SEALED_OTHERWISE}` };

interface Sealed {
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  /** Null where there is no previous secret. */
  expired: boolean | null;
  headers: Buffer | null;
}

/** One turn's work on one row after the other. */
interface Turn {
  query: Query;
  cipher: Cipher;
  /** Values that no configured key opens. */
  unreadable: (webhookId: string) => void;
}

/** @returns whether something was encrypted anew */
async function reEncryptRow({ query, cipher, unreadable }: Turn, row: Sealed): Promise<boolean> {
  let reEncrypted = false;
  const reEncrypt = <Value extends Buffer | null>(value: Value): Value | Buffer => {
    if (value === null || value.subarray(0, cipher.currentPrefix.length).equals(cipher.currentPrefix)) return value;
    try {
      const anew = cipher.encrypt(cipher.decrypt(value));
      reEncrypted = true;
      return anew;
    } catch {
      unreadable(row.id);
      return value;
    }
  };
  const expired = row.expired === true;
  const secret = reEncrypt(row.secret);
  const previous = expired ? null : reEncrypt(row.previous_secret);
  const headers = reEncrypt(row.headers);
  if (reEncrypted || expired) await query(STORE, [row.id, secret, previous, headers, expired]);
  return reEncrypted;
}

/**
 * Encrypts with the current key what another one has encrypted of the webhooks, and drops previous secrets that have expired.
 * Safe to run in several processes at once. What no configured key opens is logged and left.
 * @param options `announce`: logs how it stands, also where there was nothing to do
 * @returns how many webhooks had something encrypted anew
 */
export async function reEncryptSecrets(
  db: SystemDatabase,
  cipher: Cipher,
  { log, announce = false }: { log: Logger; announce?: boolean },
): Promise<number> {
  const unreadable = new Set<string>();
  let reEncrypted = 0;
  let after: string | undefined = NO_ID;
  while (after !== undefined) {
    const from: string = after;
    after = await db.transaction(async (query) => {
      const rows = await query<Sealed & Record<string, unknown>>(TAKE, [cipher.currentPrefix, from]);
      const turn = { query, cipher, unreadable: (id: string) => unreadable.add(id) };
      for (const row of rows) if (await reEncryptRow(turn, row)) reEncrypted++;
      return rows.length < BATCH_SIZE ? undefined : rows.at(-1)?.id;
    });
  }
  const [left] = await db.query<{ count: number }>(LEFT, [cipher.currentPrefix]);
  const facts = { re_encrypted: reEncrypted, left: left?.count };
  if (unreadable.size > 0)
    log.error(
      { ...facts, webhook_ids: [...unreadable].map((id) => publicId('webhook', id)) },
      'some webhook secrets were encrypted with a key that is not in ENCRYPTION_KEY',
    );
  else if (left?.count !== 0) log.info(facts, 'some webhook secrets are not encrypted with the current key yet');
  else if (announce || reEncrypted > 0) log.info(facts, 'all webhook secrets are encrypted with the current key');
  return reEncrypted;
}
