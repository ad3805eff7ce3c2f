import type { Logger } from 'pino';
import type { Builder } from '../db/statement.ts';
import {
  AFTER_EMAIL_LEASE,
  type EmailDeps,
  IS_EMAIL_PENDING,
  sendClaimed,
} from '../services/notifications/email-owner.ts';
import { overdue, reconcile } from './reconcile.ts';

const takePending = (db: Builder) =>
  overdue(db, 'notifications', IS_EMAIL_PENDING)
    .updateTable('notifications as n')
    .from('overdue')
    .set({ check_at: AFTER_EMAIL_LEASE })
    .whereRef('n.id', '=', 'overdue.id')
    .returning('n.id');

/**
 * Sends the e-mails that are due: after a temporary refusal, after the loss of the process that was to send them, or of Temporal's
 * state.
 * @throws Error where the database is away
 */
export async function sendDueEmails({ db, mailer }: EmailDeps, log: Logger): Promise<void> {
  if (mailer === undefined) return;
  await reconcile<{ id: string }>(db.system.query, log, {
    table: 'notifications',
    take: takePending,
    async reconcile({ id }) {
      await sendClaimed(db.system, mailer, id);
    },
  });
}
