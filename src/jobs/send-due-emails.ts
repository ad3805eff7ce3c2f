import type { Logger } from 'pino';
import {
  AFTER_EMAIL_LEASE,
  type EmailDeps,
  IS_EMAIL_PENDING,
  sendClaimed,
} from '../services/notifications/email-owner.ts';
import { reconcile } from './reconcile.ts';

/**
 * Sends due e-mails: after a temporary refusal, or after the loss of the sending process or of Temporal's state.
 * @throws Error if the database is down
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
