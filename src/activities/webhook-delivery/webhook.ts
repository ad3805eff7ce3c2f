import type { Database } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { SingleFlight } from '../../lib/single-flight.ts';
import type { Mailer } from '../../mail/mailer.ts';
import { type EmailOutcome, emailOwner } from '../../services/notifications/email-owner.ts';
import { abandonOne } from '../../services/webhooks/deliveries/abandon-deliveries.ts';
import type {
  AttemptMaker,
  AttemptOutcome,
  AttemptTask,
  EnterAttempt,
} from '../../services/webhooks/deliveries/make-attempt.ts';
import { findNotification } from '../../services/webhooks/disable-webhook.ts';
import type { Slots } from '../../temporal/slots.ts';
import { withHeartbeats } from '../heartbeats.ts';

export type { AttemptOutcome };

export interface WebhookActivityDeps {
  db: Database;
  attempts: AttemptMaker;
  slots: Slots;
  mailer: Mailer | undefined;
}

export type WebhookActivities = ReturnType<typeof createWebhookActivities>;

/** The steps of the workflow `webhookDelivery`. All are idempotent. */
export function createWebhookActivities(deps: WebhookActivityDeps) {
  const { slots, attempts } = deps;
  const { query } = deps.db.system;
  /** Attempts of this process: after a time-out by Temporal, an attempt is awaited, not repeated. */
  const inFlight = new SingleFlight<AttemptOutcome>();

  return {
    /** Makes an attempt and stores its result, unless it was already made or there is nothing left to send. */
    attemptDelivery(task: AttemptTask): Promise<AttemptOutcome> {
      const { deliveryId: id, attempt } = task;
      const enter: EnterAttempt = ({ workspace_id, event_id: eventId, webhook_id: webhookId, trigger, url }) =>
        slots.enterAttempt(publicId('workspace', workspace_id), { id, eventId, webhookId, trigger }, new URL(url).host);
      const made = inFlight.run(`${id}/${attempt}`, () => attempts.make(task, enter));
      return withHeartbeats(() => made, { delivery: publicId('delivery', id), attempt });
    },

    /** @returns the notification to e-mail to the owner; null if another delivery caused it */
    findNotification: (deliveryId: string): Promise<string | null> => findNotification(query, deliveryId),

    /** Abandons a delivery whose workflow was canceled; an ended one stays unchanged. */
    async abandonDelivery(deliveryId: string, reason: string): Promise<void> {
      await abandonOne(query, deliveryId, reason);
    },

    /** Sends the notification by e-mail, once. If that fails, `jobs/send-due-emails.ts` sends it later. */
    emailOwner: (notificationId: string): Promise<EmailOutcome> => emailOwner(deps, notificationId),
  };
}
