import { sql } from 'kysely';
import type { Database, Query, SystemDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { publicId } from '../../domain/ids.ts';
import { NOTIFICATION_MAILS } from '../../domain/notifications.ts';
import { MailError } from '../../mail/mail-error.ts';
import type { Mail, Mailer } from '../../mail/mailer.ts';

/** Longer than any conversation with the mail server: a process that has not finished by then is dead. */
export const AFTER_EMAIL_LEASE = sql<Date>`now() + interval '2 minutes'`;
/** An e-mail that could not be sent for a day is abandoned. */
export const IS_EMAIL_PENDING = sql<boolean>`email_pending and created_at > now() - interval '1 day'`;
const MAX_ATTEMPTS = 20;

/** Takes the lease. @returns false if another process has it, or there is nothing to send */
async function claim(query: Query, id: string): Promise<boolean> {
  const claimed = await query((db) =>
    db
      .updateTable('notifications')
      .set({ check_at: AFTER_EMAIL_LEASE })
      .where('id', '=', id)
      .where(IS_EMAIL_PENDING)
      // Times are stored to the millisecond: one written as now() may have been rounded up.
      .where('check_at', '<=', sql<Date>`now() + interval '1 millisecond'`)
      .returning('id'),
  );
  return claimed.length > 0;
}

/** Counts the attempt. @returns the content of the e-mail; undefined if there is nothing to send */
async function beginAttempt(query: Query, id: string) {
  const [row] = await query((db) =>
    db
      .with('attempted', (cte) =>
        cte
          .updateTable('notifications')
          .set((eb) => ({ email_attempts: eb('email_attempts', '+', 1) }))
          .where('id', '=', id)
          .where('email_pending', '=', true)
          .returning(['workspace_id', 'type', 'message', 'webhook_id', 'monitor', 'email_attempts']),
      )
      .selectFrom('attempted as n')
      .innerJoin('workspaces', 'workspaces.id', 'n.workspace_id')
      .leftJoin('webhooks', 'webhooks.id', 'n.webhook_id')
      .select(['workspaces.name as workspace', 'workspaces.owner_email', 'webhooks.url'])
      .select(['n.type', 'n.message', 'n.webhook_id', 'n.monitor', 'n.email_attempts']),
  );
  return row;
}

type DueEmail = NonNullable<Awaited<ReturnType<typeof beginAttempt>>>;

async function markSent(query: Query, id: string): Promise<void> {
  await query((db) =>
    db
      .updateTable('notifications')
      .set({ emailed_at: now, email_error: null, email_pending: false })
      .where('id', '=', id),
  );
}

/** The next attempt is after 10 s, then at increasing intervals of up to an hour. */
async function markFailed(query: Query, id: string, error: string, isFinal: boolean): Promise<void> {
  await query((db) =>
    db
      .updateTable('notifications')
      .set({
        email_error: error,
        email_pending: !isFinal,
        check_at: sql<Date>`now() + least(interval '10 seconds' * 3 ^ least(email_attempts - 1, 9), interval '1 hour')`,
      })
      .where('id', '=', id),
  );
}

/** Paths and queries of URLs may contain credentials. */
function hostsOnly(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => (URL.canParse(url) ? new URL(url).host : 'an address'));
}

function compose(notificationId: string, email: DueEmail): Mail {
  const { subject, text } = NOTIFICATION_MAILS[email.type]({
    type: email.type,
    webhookId: email.webhook_id === null ? null : publicId('webhook', email.webhook_id),
    webhookUrl: email.url,
    monitor: email.monitor,
  });
  return {
    to: email.owner_email,
    subject,
    messageId: publicId('notification', notificationId),
    text: `You get this as the owner of the workspace "${email.workspace}" of the Prompt Management Service.

${hostsOnly(email.message)}

${text}
`,
  };
}

export interface EmailDeps {
  db: Database;
  mailer: Mailer | undefined;
}

/** The result of an attempt. `later`: it will be retried, another process is sending it, or there is nothing to send. */
export type EmailOutcome = 'sent' | 'refused' | 'later' | 'no mail server';

/**
 * E-mails a notification to the owner of its workspace, once: the sender holds a lease on the row, and a sent e-mail is not sent
 * again. A crash in between causes a duplicate with the same Message-ID. `jobs/send-due-emails.ts` finds unsent e-mails by their
 * rows and retries them; the reason is stored as `email_error`.
 */
export async function emailOwner({ db, mailer }: EmailDeps, notificationId: string): Promise<EmailOutcome> {
  if (mailer === undefined) return 'no mail server';
  return (await claim(db.system.query, notificationId)) ? sendClaimed(db.system, mailer, notificationId) : 'later';
}

/** Sends the e-mail of a notification that the caller has claimed. */
export async function sendClaimed({ query }: SystemDatabase, mailer: Mailer, id: string): Promise<EmailOutcome> {
  const email = await beginAttempt(query, id);
  if (email === undefined) return 'later';
  try {
    await mailer.send(compose(id, email));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const isFinal = !error.isRetryable || email.email_attempts >= MAX_ATTEMPTS;
    await markFailed(query, id, error.message, isFinal);
    return isFinal ? 'refused' : 'later';
  }
  await markSent(query, id);
  return 'sent';
}
