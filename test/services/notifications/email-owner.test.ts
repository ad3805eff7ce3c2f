import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../../src/db/database.ts';
import { newId } from '../../../src/domain/ids.ts';
import { sendDueEmails } from '../../../src/jobs/send-due-emails.ts';
import { createMailer, type Mailer } from '../../../src/mail/mailer.ts';
import { createEmergencyKey } from '../../../src/services/access/emergency-key.ts';
import { emailOwner } from '../../../src/services/notifications/email-owner.ts';
import { type HousekeepingRows, housekeepingRows } from '../../jobs/housekeeping-rows.ts';
import { type MailServer, reply, startMailServer } from '../../mail/mail-server.ts';
import { createTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
let rows: HousekeepingRows;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 3 });
  rows = await housekeepingRows(db);
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

let server: MailServer;
let mailer: Mailer;
/** The server's response to a recipient. */
let refusal: Error | undefined;
beforeEach(async () => {
  refusal = undefined;
  await db.system.query({ text: 'delete from notifications' });
  server = await startMailServer({ onRcptTo: (_address, _session, done) => done(refusal) });
  mailer = createMailer({ smtpUrl: `smtp://${server.address}`, from: 'prompts@example.org' });
});
afterEach(async () => {
  mailer.close();
  await server.close();
});

const log = pino({ level: 'silent' });

/** As if all waits were over. */
function becomeDue() {
  return db.system.query({ text: `update notifications set check_at = now() - interval '1 second'` });
}

async function stored(id: string) {
  const [row] = await db.system.query({ text: 'select emailed_at, email_error from notifications where id = $1' }, [
    id,
  ]);
  return row;
}

/** The content with its long lines put together again (RFC 2045, quoted-printable). */
function contentOf({ received }: MailServer, index = 0): string {
  return (received[index]?.content ?? '').replaceAll('\r', '').replaceAll('=\n', '').replaceAll('=3D', '=');
}

test('the owner learns which webhook was disabled, why, and what to do', async () => {
  const url = 'https://hooks.example.com:8443/secret-path/T0/B0?token=secret-query';
  const webhookId = await rows.webhook({ url, disabled: true });
  const message = `The webhook wh_${webhookId} to hooks.example.com:8443 was disabled because ${url} answered 500.`;
  const id = await rows.notification({ webhookId, message });
  expect(await emailOwner({ db, mailer }, id)).toBe('sent');
  expect(server.received).toMatchObject([{ to: ['ada@example.com'] }]);
  const content = contentOf(server);
  for (const part of [
    'workspace "rows"',
    `The webhook wh_${webhookId} to hooks.example.com:8443 was disabled because hooks.example.com:8443 answered 500.`,
    `GET /v1/webhooks/wh_${webhookId}/deliveries`,
    `POST /v1/webhooks/wh_${webhookId}/enable`,
    `POST /v1/webhooks/wh_${webhookId}/replay`,
    `Message-ID: <ntf_${id}@example.org>`,
  ])
    expect(content).toContain(part);
  expect(content).toMatch(/^Subject: The webhook wh_[\s\S]*\(hooks\.example\.com:8443\) was disabled$/m);
  expect(content).not.toMatch(/secret-path|secret-query|T0/);
  expect(await stored(id)).toEqual({ emailed_at: expect.any(Object), email_error: null });
});

test('the owner learns of an emergency key, its reason, and how to revoke it, but not the key', async () => {
  const [workspace] = await db.system.query<{ id: string }>({ text: `select id from workspaces where name = 'rows'` });
  const made = await createEmergencyKey(db.workspace(workspace?.id ?? ''), { reason: 'incident 42', minutes: 60 });
  await sendDueEmails({ db, mailer, log });
  expect(server.received).toMatchObject([{ to: ['ada@example.com'] }]);
  const content = contentOf(server);
  for (const part of ['Subject: An emergency key was made', 'workspace "rows"', 'incident 42', 'DELETE /v1/api-keys/'])
    expect(content).toContain(part);
  expect(content).not.toContain(made.text);
});

test('a second call sends nothing', async () => {
  const id = await rows.notification({ webhookId: await rows.webhook() });
  await emailOwner({ db, mailer }, id);
  expect(await emailOwner({ db, mailer }, id)).toBe('later');
  await sendDueEmails({ db, mailer, log });
  expect(server.received).toHaveLength(1);
});

test('a double after a crash has the same Message-ID', async () => {
  const id = await rows.notification({ webhookId: await rows.webhook() });
  await emailOwner({ db, mailer }, id);
  // As if the process had died before it noted that the mail was sent.
  await db.system.query({ text: 'update notifications set emailed_at = null, email_pending = true where id = $1' }, [
    id,
  ]);
  await becomeDue();
  await emailOwner({ db, mailer }, id);
  const ids = [0, 1].map((index) => /^Message-ID: .*$/m.exec(contentOf(server, index))?.[0]);
  expect(ids).toEqual([`Message-ID: <ntf_${id}@example.org>`, `Message-ID: <ntf_${id}@example.org>`]);
});

test('without a mail server only the notification remains', async () => {
  const id = await rows.notification();
  expect(await emailOwner({ db, mailer: undefined }, id)).toBe('no mail server');
  expect(await stored(id)).toEqual({ emailed_at: null, email_error: null });
});

test('a final refusal is noted and not retried; a temporary one is, and leaves no error once the mail is sent', async () => {
  const refused = await rows.notification({ webhookId: await rows.webhook() });
  refusal = reply(550, 'no such user');
  expect(await emailOwner({ db, mailer }, refused)).toBe('refused');
  refusal = reply(451, 'later');
  const delayed = await rows.notification({ webhookId: await rows.webhook() });
  expect(await emailOwner({ db, mailer }, delayed)).toBe('later');
  expect(await stored(delayed)).toMatchObject({ email_error: expect.stringContaining('451') });
  refusal = undefined;
  await becomeDue();
  await sendDueEmails({ db, mailer, log });
  expect(await stored(delayed)).toEqual({ emailed_at: expect.any(Object), email_error: null });
  expect(await stored(refused)).toEqual({
    emailed_at: null,
    email_error: expect.stringMatching(/^The mail server refused the recipient: 550 .*no such user\.$/),
  });
  expect(server.received).toHaveLength(1);
});

test('mails with lost workflows are found by their rows, and sent once by several processes', async () => {
  const ids = await Promise.all(Array.from({ length: 5 }, () => rows.notification()));
  const processes = [1, 2, 3].map(() => sendDueEmails({ db, mailer, log }));
  await Promise.all([...processes, ...ids.map((id) => emailOwner({ db, mailer }, id))]);
  for (const id of ids) expect(await stored(id)).toEqual({ emailed_at: expect.any(Object), email_error: null });
  expect(server.received).toHaveLength(ids.length);
});

test('a process that dies while sending delays the mail, but not for ever', async () => {
  const id = await rows.notification();
  const dying = { ...mailer, send: () => Promise.reject(new Error('The process died.')) };
  await expect(emailOwner({ db, mailer: dying }, id)).rejects.toThrow('The process died.');
  await sendDueEmails({ db, mailer, log });
  expect(server.received).toHaveLength(0);
  await becomeDue();
  await sendDueEmails({ db, mailer, log });
  expect(server.received).toHaveLength(1);
});

test('a repeatedly refused mail is given up, with the reason', async () => {
  const id = await rows.notification();
  refusal = reply(451, 'later');
  let tries = 0;
  const isPending = async () =>
    (await db.system.query({ text: 'select 1 from notifications where id = $1 and email_pending' }, [id])).length > 0;
  for (; tries < 30 && (await isPending()); tries += 1) {
    await becomeDue();
    await sendDueEmails({ db, mailer, log });
  }
  expect(tries).toBe(20);
  expect(await stored(id)).toEqual({ emailed_at: null, email_error: expect.stringContaining('451') });
});

test('a mail that failed for a day is no longer sent', async () => {
  await rows.notification({ ageDays: 2 });
  await sendDueEmails({ db, mailer, log });
  expect(server.received).toEqual([]);
});

test('the owner is notified of a webhook deleted since', async () => {
  const id = await rows.notification({ webhookId: newId(), message: 'It failed, and failed again.' });
  await emailOwner({ db, mailer }, id);
  expect(contentOf(server)).toContain('It failed, and failed again.');
});

test('the owner of the default workspace has a valid address', async () => {
  await db.system.query({ text: `update workspaces set owner_email = 'owner@localhost'` });
  const id = await rows.notification();
  await emailOwner({ db, mailer }, id);
  expect(server.received).toMatchObject([{ to: ['owner@localhost'] }]);
});

test('a deleted notification is ignored', async () => {
  expect(await emailOwner({ db, mailer }, newId())).toBe('later');
  expect(server.received).toEqual([]);
});
