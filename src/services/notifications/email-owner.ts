import type { Database } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { MailError } from './mail-error.ts';
import type { Mail, Mailer } from './mailer.ts';

interface Told {
  workspace: string;
  owner_email: string;
  message: string;
  webhook_id: string | null;
  url: string | null;
  emailed_at: Date | null;
}

const READ = {
  text: `select workspaces.name as workspace, owner_email, message, webhook_id, url, emailed_at
         from notifications join workspaces on workspaces.id = notifications.workspace_id
           left join webhooks on webhooks.id = notifications.webhook_id
         where notifications.id = $1`,
};
const SENT = { text: 'update notifications set emailed_at = now(), email_error = null where id = $1' };
const NOT_SENT = { text: 'update notifications set email_error = $2 where id = $1' };

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

/**
 * Tells the owner of a workspace by e-mail what a notification says, once: where it was sent, nothing is sent again. A crash
 * between the two makes a double, with the same Message-ID.
 * @throws MailError whose reason was stored as `email_error`; where it is not retryable, the mail server will not have this mail
 */
export async function emailOwner(
  { db, mailer }: { db: Database; mailer: Mailer | undefined },
  notificationId: string,
): Promise<'sent' | 'no mail server'> {
  if (mailer === undefined) return 'no mail server';
  const [told] = await db.system.query<Told & Record<string, unknown>>(READ, [notificationId]);
  if (told === undefined) throw new MailError('The notification is gone.', false);
  if (told.emailed_at !== null) return 'sent';
  try {
    await mailer.send(compose(notificationId, told));
  } catch (error) {
    if (error instanceof MailError) await db.system.query(NOT_SENT, [notificationId, error.message]);
    throw error;
  }
  await db.system.query(SENT, [notificationId]);
  return 'sent';
}
