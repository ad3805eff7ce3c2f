import type { Logger } from 'pino';
import {
  AFTER_EMAIL_LEASE,
  type EmailDeps,
  IS_EMAIL_PENDING,
  sendClaimed,
} from '../services/notifications/email-owner.ts';
import { reconcile } from './reconcile.ts';

/**
 * Sends the e-mails that are due: after a temporary refusal, after the loss of the process that was to send them, or of Temporal's
 * state.
 * @throws Error where the database is away
 */
export async function sendDueEmails({ db, mailer, log }: EmailDeps & { log: Logger }): Promise<void> {
  if (mailer === undefined) return;
  await reconcile(
    { db, log },
    {
      table: 'notifications',
      due: IS_EMAIL_PENDING,
      nextCheck: AFTER_EMAIL_LEASE,
      read: (all) => all.selectFrom('taken').select('id'),
      reconcile: ({ id }) => sendClaimed(db.system, mailer, id),
    },
  );
}
