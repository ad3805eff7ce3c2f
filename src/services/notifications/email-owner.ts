import type { Database, SystemDatabase } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { MailError } from '../../mail/mail-error.ts';
import type { Mail, Mailer } from '../../mail/mailer.ts';

interface Told {
  workspace: string;
  owner_email: string;
  message: string;
  webhook_id: string | null;
  url: string | null;
  email_attempts: number;
}

/** Longer than any conversation with the mail server: whoever has claimed a notification sends it or is dead by then. */
export const EMAIL_LEASE = `interval '2 minutes'`;
/** A mail that could not be sent for a day tells of what is long known. */
export const EMAIL_PENDING = `email_pending and created_at > now() - interval '1 day'`;
const MAX_TRIES = 20;

/** Times are stored to the millisecond: one that was written as now() may have been rounded up. */
const CLAIM = {
  text: `update notifications set check_at = now() + ${EMAIL_LEASE}
         where id = $1 and ${EMAIL_PENDING} and check_at <= now() + interval '1 millisecond' returning id`,
};

const READ = {
  text: `update notifications set email_attempts = notifications.email_attempts + 1
         from notifications n join workspaces on workspaces.id = n.workspace_id left join webhooks on webhooks.id = n.webhook_id
         where notifications.id = $1 and n.id = $1 and notifications.email_pending
         returning workspaces.name as workspace, owner_email, n.message, n.webhook_id, url, notifications.email_attempts`,
};
const SENT = {
  text: 'update notifications set emailed_at = now(), email_error = null, email_pending = false where id = $1',
};
/** Tried again after 10 s, then ever later, at most after an hour. */
const NOT_SENT = {
  text: `update notifications set email_error = $2, email_pending = $3,
           check_at = now() + least(interval '10 seconds' * 3 ^ least(email_attempts - 1, 9), interval '1 hour')
         where id = $1`,
};

/** Paths and queries of addresses may hold what opens them. */
function hostsOnly(text: string): string {
  return text.replace(/\bhttps?:\/\/[^\s"'<>]+/gi, (url) => (URL.canParse(url) ? new URL(url).host : 'an address'));
}

function compose(notificationId: string, { workspace, owner_email, message, webhook_id, url }: Told): Mail {
  const webhook = webhook_id === null ? 'a webhook' : `the webhook ${publicId('webhook', webhook_id)}`;
  const of = url === null ? '' : ` (${new URL(url).host})`;
  const path = `/v1/webhooks/${webhook_id === null ? '{id}' : publicId('webhook', webhook_id)}`;
  return {
    to: owner_email,
    subject: `${webhook.charAt(0).toUpperCase()}${webhook.slice(1)}${of} was disabled`,
    messageId: publicId('notification', notificationId),
    text: `You get this as the owner of the workspace "${workspace}" of the Prompt Management Service.

${hostsOnly(message)}

Nothing is sent to ${webhook}${of} any more. To have it back:

1. Mend what its failed deliveries tell of: GET ${path}/deliveries
2. Enable it: POST ${path}/enable
3. Have what it missed sent again: POST ${path}/replay
   with {"since": "…", "undelivered_only": true}, since a time shortly before it began to fail
`,
  };
}

export interface EmailDeps {
  db: Database;
  mailer: Mailer | undefined;
}

/** What came of a notification's e-mail. `later`: it is tried again, or someone else is at it, or there is nothing to send. */
export type EmailOutcome = 'sent' | 'refused' | 'later' | 'no mail server';

/**
 * Tells the owner of a workspace by e-mail what a notification says, once: who sends has claimed the row for a while, and where it
 * was sent, nothing is sent again. A crash between the two makes a double, with the same Message-ID. What could not be sent is
 * found by its row and tried again by `jobs/send-due-emails.ts`; the reason is stored as `email_error`.
 */
export async function emailOwner(deps: EmailDeps, notificationId: string): Promise<EmailOutcome> {
  if (deps.mailer === undefined) return 'no mail server';
  const [claimed] = await deps.db.system.query(CLAIM, [notificationId]);
  return claimed === undefined ? 'later' : sendClaimed(deps.db.system, deps.mailer, notificationId);
}

/** Sends the e-mail of a notification that the caller has claimed. */
export async function sendClaimed({ query }: SystemDatabase, mailer: Mailer, id: string): Promise<EmailOutcome> {
  const [told] = await query<Told & Record<string, unknown>>(READ, [id]);
  if (told === undefined) return 'later';
  try {
    await mailer.send(compose(id, told));
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    const isFinal = !error.isRetryable || told.email_attempts >= MAX_TRIES;
    await query(NOT_SENT, [id, error.message, !isFinal]);
    return isFinal ? 'refused' : 'later';
  }
  await query(SENT, [id]);
  return 'sent';
}
