import { type InferResult, type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query, SystemDatabase } from '../db/database.ts';
import { given } from '../db/sql.ts';
import type { Builder } from '../db/statement.ts';
import type { Cipher } from '../domain/cipher.ts';
import { publicId } from '../domain/ids.ts';

const BATCH_SIZE = 100;

/** Something of the webhook is not encrypted with the current key. */
const usesAnotherKey = ({ currentPrefix }: Cipher): RawBuilder<boolean> => {
  const differs = (column: string) =>
    sql`substr(${sql.ref(column)}, 1, ${currentPrefix.length}) <> ${currentPrefix}::bytea`;
  return sql`(${differs('secret')} or ${differs('previous_secret')} or ${differs('headers')})`;
};

const isExpired = sql<boolean>`coalesce(previous_secret_expires_at <= now(), false)`;

const takeBatch = (cipher: Cipher, after: string | undefined) => (db: Builder) =>
  db
    .selectFrom('webhooks')
    .select(['id', 'secret', 'previous_secret', 'headers', isExpired.as('expired')])
    .where(sql<boolean>`(${isExpired} or ${usesAnotherKey(cipher)})`)
    .where((eb) => eb.and(given(after, (id) => eb('id', '>', id))))
    .orderBy('id')
    .limit(BATCH_SIZE)
    .forUpdate()
    .skipLocked();

type Row = InferResult<ReturnType<ReturnType<typeof takeBatch>>>[number];

interface Batch {
  query: Query;
  cipher: Cipher;
  /** Is called for a webhook with a value that no configured key decrypts. */
  onUnreadable: (webhookId: string) => void;
}

/** Also drops a previous secret that has expired. @returns whether something was re-encrypted */
async function reEncryptRow({ query, cipher, onUnreadable }: Batch, { id, expired, ...row }: Row): Promise<boolean> {
  let reEncrypted = false;
  const reEncrypt = <Value extends Buffer | null>(value: Value): Value | Buffer => {
    if (value === null || value.subarray(0, cipher.currentPrefix.length).equals(cipher.currentPrefix)) return value;
    try {
      const encrypted = cipher.encrypt(cipher.decrypt(value));
      reEncrypted = true;
      return encrypted;
    } catch {
      onUnreadable(id);
      return value;
    }
  };
  const columns = {
    secret: reEncrypt(row.secret),
    headers: reEncrypt(row.headers),
    ...(expired
      ? { previous_secret: null, previous_secret_expires_at: null }
      : { previous_secret: reEncrypt(row.previous_secret) }),
  };
  if (reEncrypted || expired) await query((db) => db.updateTable('webhooks').set(columns).where('id', '=', id));
  return reEncrypted;
}

/**
 * Re-encrypts with the current key what another one has encrypted of the webhooks, and drops previous secrets that have expired.
 * Safe to run in several processes at once. What no configured key decrypts is logged and left.
 * @param options `announce`: logs the result also where there was nothing to do
 * @returns how many webhooks had something re-encrypted
 */
export async function reEncryptSecrets(
  db: SystemDatabase,
  cipher: Cipher,
  { log, announce = false }: { log: Logger; announce?: boolean },
): Promise<number> {
  const unreadable = new Set<string>();
  let reEncrypted = 0;
  let after: string | undefined;
  do {
    const previous = after;
    after = await db.transaction(async (query) => {
      const rows = await query(takeBatch(cipher, previous));
      const batch = { query, cipher, onUnreadable: (id: string) => unreadable.add(id) };
      for (const row of rows) if (await reEncryptRow(batch, row)) reEncrypted++;
      return rows.length < BATCH_SIZE ? undefined : rows.at(-1)?.id;
    });
  } while (after !== undefined);
  const [left] = await db.query((all) =>
    all
      .selectFrom('webhooks')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where(usesAnotherKey(cipher)),
  );
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
