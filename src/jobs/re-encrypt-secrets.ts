import { type RawBuilder, sql } from 'kysely';
import type { Logger } from 'pino';
import { claim } from '../db/claim.ts';
import type { Query, SystemDatabase } from '../db/database.ts';
import { given } from '../db/sql.ts';
import type { Cipher } from '../domain/cipher.ts';
import { type IdKind, publicId } from '../domain/ids.ts';

const BATCH_SIZE = 100;

/** Encrypts a value with the current key unless it already is; returns the value unchanged if no configured key decrypts it. */
type ReEncrypt = <Value extends Buffer | null>(value: Value) => Value | Buffer;

/** The rows of a table that contain secrets. */
interface SecretTable<Row extends { id: string } = { id: string }> {
  kind: IdKind;
  /** The next rows to process, locked; skips rows locked by others. */
  take(query: Query, after: string | undefined): Promise<Row[]>;
  /** Rewrites a row if `reEncrypt` changes any of its values. */
  write(query: Query, row: Row, reEncrypt: ReEncrypt): Promise<void>;
  /** The number of rows with a value that is not encrypted with the current key. */
  countLeft(query: Query): Promise<number>;
}

const isOfAnotherKey = ({ currentPrefix }: Cipher, column: string): RawBuilder<boolean> =>
  sql`substr(${sql.ref(column)}, 1, ${currentPrefix.length}) <> ${currentPrefix}::bytea`;

interface WebhookSecrets {
  id: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  headers: Buffer | null;
  expired: boolean;
}

/** Also deletes previous secrets that have expired. */
function webhooksTable(cipher: Cipher): SecretTable<WebhookSecrets> {
  const [secret, previous, headers] = ['secret', 'previous_secret', 'headers'].map((column) =>
    isOfAnotherKey(cipher, column),
  );
  const usesAnotherKey = sql<boolean>`(${secret} or ${previous} or ${headers})`;
  const isExpired = sql<boolean>`coalesce(previous_secret_expires_at <= now(), false)`;
  return {
    kind: 'webhook',
    take: (query, after) =>
      query((db) =>
        db
          .selectFrom('webhooks')
          .select(['id', 'secret', 'previous_secret', 'headers', isExpired.as('expired')])
          .where(sql<boolean>`(${isExpired} or ${usesAnotherKey})`)
          .where((eb) => eb.and(given(after, (id) => eb('id', '>', id))))
          .orderBy('id')
          .$call(claim(BATCH_SIZE)),
      ),
    async write(query, { id, expired, ...row }, reEncrypt) {
      const columns = {
        secret: reEncrypt(row.secret),
        headers: reEncrypt(row.headers),
        ...(expired
          ? { previous_secret: null, previous_secret_expires_at: null }
          : { previous_secret: reEncrypt(row.previous_secret) }),
      };
      const isSame = !expired && columns.secret === row.secret && columns.headers === row.headers;
      if (isSame && columns.previous_secret === row.previous_secret) return;
      await query((db) => db.updateTable('webhooks').set(columns).where('id', '=', id));
    },
    async countLeft(query) {
      const [left] = await query((db) =>
        db
          .selectFrom('webhooks')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where(usesAnotherKey),
      );
      return left?.count ?? 0;
    },
  };
}

interface OneSecret {
  id: string;
  secret: Buffer | null;
}

/**
 * The tables with one column of secrets, and the kind of their rows: the secrets of evaluators, and the identity providers'
 * tokens of sessions.
 */
const COLUMNS = {
  evaluations: { kind: 'evaluation', column: 'evaluator_secrets' },
  schedules: { kind: 'schedule', column: 'evaluator_secrets' },
  rules: { kind: 'rule', column: 'evaluator_secrets' },
  rule_backfills: { kind: 'backfill', column: 'evaluator_secrets' },
  sessions: { kind: 'session', column: 'provider_tokens' },
} as const satisfies Record<string, { kind: IdKind; column: string }>;
type OneColumnTable = keyof typeof COLUMNS;

function oneColumnTable(cipher: Cipher, table: OneColumnTable): SecretTable<OneSecret> {
  const { kind, column } = COLUMNS[table];
  const secret = sql.ref<Buffer | null>(column);
  const usesAnotherKey = sql<boolean>`(${secret} is not null and ${isOfAnotherKey(cipher, column)})`;
  return {
    kind,
    take: (query, after) =>
      query((db) =>
        db
          .selectFrom(table)
          .select(['id', secret.as('secret')])
          .where(usesAnotherKey)
          .where((eb) => eb.and(given(after, (id) => eb('id', '>', id))))
          .orderBy('id')
          .$call(claim(BATCH_SIZE)),
      ),
    async write(query, { id, secret: before }, reEncrypt) {
      const reEncrypted = reEncrypt(before);
      if (reEncrypted === before) return;
      await query((db) => db.updateTable(table).set(secret, reEncrypted).where('id', '=', id));
    },
    async countLeft(query) {
      const [left] = await query((db) =>
        db
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .where(usesAnotherKey),
      );
      return left?.count ?? 0;
    },
  };
}

interface Counts {
  /** Rows with a re-encrypted value. */
  reEncrypted: number;
  /** Rows with a value that is not encrypted with the current key. */
  left: number;
  kind: IdKind;
  /** Public ids of rows with a value that no configured key decrypts. */
  ids: Set<string>;
}

async function reEncryptTable<Row extends { id: string }>(
  db: SystemDatabase,
  cipher: Cipher,
  table: SecretTable<Row>,
): Promise<Counts> {
  const { kind } = table;
  const ids = new Set<string>();
  let reEncrypted = 0;
  let after: string | undefined;
  do {
    const previous = after;
    after = await db.transaction(async (query) => {
      const rows = await table.take(query, previous);
      for (const row of rows) {
        let isChanged = false;
        await table.write(query, row, (value) => {
          if (value === null || value.subarray(0, cipher.currentPrefix.length).equals(cipher.currentPrefix))
            return value;
          try {
            const encrypted = cipher.encrypt(cipher.decrypt(value));
            isChanged = true;
            return encrypted;
          } catch {
            ids.add(publicId(kind, row.id));
            return value;
          }
        });
        if (isChanged) reEncrypted += 1;
      }
      return rows.length < BATCH_SIZE ? undefined : rows.at(-1)?.id;
    });
  } while (after !== undefined);
  return { reEncrypted, left: await table.countLeft(db.query), kind, ids };
}

/**
 * Re-encrypts secrets of webhooks, evaluators and sessions that were encrypted with another key, and deletes previous secrets
 * that have expired. Safe to run in several processes at once. Values that no configured key decrypts are logged and kept.
 * @param options `announce`: logs the result even if there was nothing to do
 * @returns the number of rows with a re-encrypted value
 */
export async function reEncryptSecrets(
  db: SystemDatabase,
  cipher: Cipher,
  { log, announce = false }: { log: Logger; announce?: boolean },
): Promise<number> {
  const counts = [
    await reEncryptTable(db, cipher, webhooksTable(cipher)),
    await reEncryptTable(db, cipher, oneColumnTable(cipher, 'evaluations')),
    await reEncryptTable(db, cipher, oneColumnTable(cipher, 'schedules')),
    await reEncryptTable(db, cipher, oneColumnTable(cipher, 'rules')),
    await reEncryptTable(db, cipher, oneColumnTable(cipher, 'rule_backfills')),
    await reEncryptTable(db, cipher, oneColumnTable(cipher, 'sessions')),
  ];
  const sum = (of: (count: Counts) => number) => counts.reduce((total, count) => total + of(count), 0);
  const facts = { re_encrypted: sum(({ reEncrypted }) => reEncrypted), left: sum(({ left }) => left) };
  const unreadable = counts.filter(({ ids }) => ids.size > 0).map(({ kind, ids }) => [`${kind}_ids`, [...ids]]);
  if (unreadable.length > 0)
    log.error(
      { ...facts, ...Object.fromEntries(unreadable) },
      'some secrets were encrypted with a key that is not in ENCRYPTION_KEY',
    );
  else if (facts.left > 0) log.info(facts, 'some secrets are not encrypted with the current key yet');
  else if (announce || facts.re_encrypted > 0) log.info(facts, 'all secrets are encrypted with the current key');
  return facts.re_encrypted;
}
