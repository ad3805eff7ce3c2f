import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { createCipher } from '../../src/domain/cipher.ts';
import { newId } from '../../src/domain/ids.ts';
import { reEncryptSecrets } from '../../src/jobs/re-encrypt-secrets.ts';
import { openSecrets } from '../../src/services/evaluations/creation/evaluator-secrets.ts';
import {
  decryptColumns,
  type EncryptedColumns,
  encryptHeaders,
  encryptSecret,
} from '../../src/services/webhooks/encrypted-columns.ts';
import { createTestDatabase } from '../support/database.ts';
import { type HousekeepingRows, housekeepingRows } from './housekeeping-rows.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let rows: HousekeepingRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 4 });
  rows = await housekeepingRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});
beforeEach(() => db.system.query({ text: 'truncate webhooks, evaluations, schedules, rules cascade' }));

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const before = createCipher([oldKey]);
const during = createCipher([newKey, oldKey]);
const after = createCipher([newKey]);

/** A log that records its lines. */
function keptLog() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { log, lines };
}

async function read(id: string): Promise<EncryptedColumns> {
  const [row] = await db.system.query<EncryptedColumns & Record<string, unknown>>(
    { text: 'select secret, previous_secret, previous_secret_expires_at, headers from webhooks where id = $1' },
    [id],
  );
  if (row === undefined) throw new Error('The webhook is gone.');
  return row;
}

const webhook = (name: string, cipher = before) =>
  rows.webhook({
    secret: encryptSecret(cipher, `secret of ${name}`),
    previous: { secret: encryptSecret(cipher, `before of ${name}`), expiresInHours: 5 },
    headers: encryptHeaders(cipher, { 'X-Of': name }) ?? Buffer.of(),
  });

test('afterwards the old key is unused, and an operator can see that', async () => {
  const ids = await Promise.all(Array.from({ length: 250 }, (_, index) => webhook(String(index))));
  const { log, lines } = keptLog();
  expect(await reEncryptSecrets(db.system, during, { log })).toBe(250);
  for (const [index, id] of ids.entries())
    expect(decryptColumns(after, await read(id), new Date())).toEqual({
      secrets: [`secret of ${index}`, `before of ${index}`],
      headers: { 'X-Of': String(index) },
    });
  expect(lines).toEqual([
    { level: 30, re_encrypted: 250, left: 0, msg: 'all secrets are encrypted with the current key' },
  ]);
});

test('secrets under the current key are unchanged, and reported as such on request', async () => {
  const id = await webhook('current', after);
  const stored = await read(id);
  const { log, lines } = keptLog();
  expect(await reEncryptSecrets(db.system, during, { log })).toBe(0);
  expect(lines).toEqual([]);
  await reEncryptSecrets(db.system, during, { log, announce: true });
  expect(lines).toMatchObject([{ re_encrypted: 0, msg: 'all secrets are encrypted with the current key' }]);
  expect(await read(id)).toEqual(stored);
});

test('one column under the old key is enough', async () => {
  const id = await rows.webhook({
    secret: encryptSecret(after, 'new'),
    headers: before.encrypt(Buffer.from('{"A":"b"}')),
  });
  const { secret } = await read(id);
  expect(await reEncryptSecrets(db.system, during, keptLog())).toBe(1);
  const row = await read(id);
  expect(row.secret).toEqual(secret);
  expect(decryptColumns(after, row, new Date())).toEqual({ secrets: ['new'], headers: { A: 'b' } });
});

test('expired previous secrets are dropped', async () => {
  const id = await rows.webhook({
    secret: encryptSecret(after, 'new'),
    previous: { secret: encryptSecret(before, 'old'), expiresInHours: -1 },
  });
  expect(await reEncryptSecrets(db.system, after, keptLog())).toBe(0);
  expect(await read(id)).toMatchObject({ previous_secret: null, previous_secret_expires_at: null });
});

test('undecryptable secrets are logged once, and the others are done', async () => {
  const lost = await webhook('lost', createCipher([randomBytes(32)]));
  const mixed = await rows.webhook({ secret: encryptSecret(before, 'fine'), headers: Buffer.from('damaged') });
  const fine = await webhook('fine');
  const stored = await read(lost);
  const { log, lines } = keptLog();
  expect(await reEncryptSecrets(db.system, during, { log })).toBe(2);
  expect(lines).toEqual([
    {
      level: 50,
      re_encrypted: 2,
      left: 2,
      webhook_ids: [`wh_${lost}`, `wh_${mixed}`],
      msg: 'some secrets were encrypted with a key that is not in ENCRYPTION_KEY',
    },
  ]);
  expect(await read(lost)).toEqual(stored);
  expect(after.decrypt((await read(mixed)).secret).toString()).toBe('fine');
  expect(decryptColumns(after, await read(fine), new Date()).secrets[0]).toBe('secret of fine');
});

test('several workers do it once together', async () => {
  await Promise.all(Array.from({ length: 300 }, (_, index) => webhook(String(index))));
  const done = await Promise.all([1, 2, 3].map(() => reEncryptSecrets(db.system, during, keptLog())));
  expect(done.reduce((sum, count) => sum + count, 0)).toBe(300);
});

test('a row being changed waits for the next time, and is counted', async () => {
  const id = await webhook('busy');
  const { log, lines } = keptLog();
  await db.system.transaction(async (query) => {
    await query({ text: 'select from webhooks where id = $1 for update' }, [id]);
    expect(await reEncryptSecrets(db.system, during, { log })).toBe(0);
  });
  expect(lines).toMatchObject([{ left: 1, msg: 'some secrets are not encrypted with the current key yet' }]);
  expect(await reEncryptSecrets(db.system, during, { log })).toBe(1);
});

describe('the secrets of evaluators', () => {
  const insert = {
    evaluations: `insert into evaluations (workspace_id, id, evaluator_secrets, prompt_name, prompt_version, content, model, provider,
                    parameters, examples_hash, examples_total, evaluators, threshold, baseline_mode, concurrency, metadata, status, created_at)
                  values ($1, $2, $3, 'p', 1, '{}', 'sandbox/echo', 'sandbox', '{}', '', 1, '[]', 1, 'none', 1, '{}', 'completed', now())`,
    schedules: `insert into schedules (workspace_id, id, evaluator_secrets, name, cron, time_zone, request, created_at)
                values ($1, $2, $3, 's', '@daily', 'UTC', '{}', now())`,
    rules: `insert into rules (workspace_id, id, evaluator_secrets, name, sample_rate, evaluators, enabled, created_at, updated_at)
            values ($1, $2, $3, gen_random_uuid(), 1, '[]', false, now(), now())`,
  };

  async function store(table: keyof typeof insert, secrets: Buffer | null): Promise<string> {
    const id = newId();
    await db.system.query({ text: insert[table] }, [rows.workspaceId, id, secrets]);
    return id;
  }
  async function readSealed(table: keyof typeof insert, id: string): Promise<Buffer | null> {
    const text = `select evaluator_secrets from ${table} where id = $1`;
    const [row] = await db.system.query<{ evaluator_secrets: Buffer | null }>({ text }, [id]);
    return row?.evaluator_secrets ?? null;
  }
  const sealed = (secret: string, cipher = before) => cipher.encrypt(Buffer.from(JSON.stringify({ http: secret })));

  test('in evaluations, schedules and rules are re-encrypted, too', async () => {
    const tables = ['evaluations', 'schedules', 'rules'] as const;
    const ids = await Promise.all(
      Array.from({ length: 120 }, async (_, index) =>
        Promise.all(tables.map((table) => store(table, sealed(`${table} ${index}`)))),
      ),
    );
    const without = await store('evaluations', null);
    const current = await store('schedules', sealed('current', after));
    const stored = await readSealed('schedules', current);
    const { log, lines } = keptLog();
    await webhook('beside');
    expect(await reEncryptSecrets(db.system, during, { log })).toBe(361);
    expect(lines).toMatchObject([
      { re_encrypted: 361, left: 0, msg: 'all secrets are encrypted with the current key' },
    ]);
    for (const [index, both] of ids.entries())
      for (const [at, table] of tables.entries())
        expect(openSecrets(after, await readSealed(table, both[at] ?? '')).get('http')).toBe(`${table} ${index}`);
    expect(await readSealed('evaluations', without)).toBeNull();
    expect(await readSealed('schedules', current)).toEqual(stored);
    expect(await reEncryptSecrets(db.system, during, keptLog())).toBe(0);
  });

  test('without a key are named and left', async () => {
    const lost = createCipher([randomBytes(32)]);
    const [evaluation, schedule] = [
      await store('evaluations', sealed('x', lost)),
      await store('schedules', sealed('x', lost)),
    ];
    const { log, lines } = keptLog();
    expect(await reEncryptSecrets(db.system, during, { log })).toBe(0);
    expect(lines).toEqual([
      {
        level: 50,
        re_encrypted: 0,
        left: 2,
        evaluation_ids: [`eval_${evaluation}`],
        schedule_ids: [`sched_${schedule}`],
        msg: 'some secrets were encrypted with a key that is not in ENCRYPTION_KEY',
      },
    ]);
  });
});
