import type { Logger } from 'pino';
import { EMAIL_LEASE, EMAIL_PENDING, type EmailDeps, sendClaimed } from '../services/notifications/email-owner.ts';
import { reconcile, takeOverdue } from './reconcile.ts';

const TAKE = { text: `${takeOverdue('notifications', EMAIL_PENDING, EMAIL_LEASE)} returning id` };

/**
 * Sends what is due: after a refusal for now, after the loss of the process that was to send it, or of Temporal's state.
 * @throws Error where the database is away
 */
export async function sendDueEmails({ db, mailer }: EmailDeps, log: Logger): Promise<void> {
  if (mailer === undefined) return;
  await reconcile<{ id: string }>(db.system.query, log, {
    table: 'notifications',
    take: TAKE,
    async reconcile({ id }) {
      await sendClaimed(db.system, mailer, id);
    },
  });
}
