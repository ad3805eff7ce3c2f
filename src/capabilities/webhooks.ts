import { type SqlBool, sql } from 'kysely';
import { deliveryRoutes } from '../api/deliveries/routes.ts';
import { changesRoutes } from '../api/events/changes-route.ts';
import { eventRoutes } from '../api/events/routes.ts';
import { notificationRoutes } from '../api/notifications/routes.ts';
import { webhookRoutes } from '../api/webhooks/routes.ts';
import { sendingRoutes } from '../api/webhooks/sending-routes.ts';
import { everyRow, toDelete } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';
import { expireEvents } from '../jobs/expire-events.ts';
import { reconcileDeliveries } from '../jobs/reconcile-deliveries.ts';
import { endEach } from '../jobs/remove-workspaces.ts';
import { olderThan } from '../jobs/retention.ts';
import { sendDueEmails } from '../jobs/send-due-emails.ts';
import { deleteWebhook } from '../services/webhooks/change-webhook.ts';
import { type Capability, reconciling } from './capability.ts';

export const webhooks: Capability = {
  name: 'webhooks',
  routes: (parts) => [
    ...webhookRoutes(parts),
    ...sendingRoutes({ ...parts, waiter: parts.deliveryWaiter }),
    ...deliveryRoutes(parts),
    ...eventRoutes(),
    ...changesRoutes(parts),
    ...notificationRoutes(),
  ],
  jobs: (parts) => [
    { name: 'send e-mails', everyMs: parts.reconcileEveryMs, run: () => sendDueEmails(parts) },
    reconciling(parts, 'deliveries', reconcileDeliveries),
  ],
  end: (_, workspace, signal) =>
    endEach(workspace, 'webhooks', sql<SqlBool>`true`, signal, (id) => deleteWebhook(workspace, id)),
  rows: [
    // Workflows are signaled first about deliveries that were ended.
    toDelete('deliveries', (eb) => ({
      where: eb.not(eb.or([inStates(deliveryStates, UNFINISHED_DELIVERY), eb('to_end', '=', true)])),
    })),
    toDelete('events', (eb) => ({
      where: eb.not(
        eb.exists(eb.selectFrom('deliveries as d').select('d.id').whereRef('d.event_id', '=', 'events.id')),
      ),
      byId: true,
    })),
    toDelete('notifications', () => ({ ...everyRow, byId: true })),
  ],
  expired: ({ events }) => [(db, signal) => expireEvents(db, events, signal), olderThan('notifications', events)],
};
