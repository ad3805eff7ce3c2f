import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/delivery-states.ts';
import { abandonOne } from '../services/deliveries/abandon-deliveries.ts';
import {
  type DeliveryStarter,
  STORED_DELIVERY,
  type StoredDelivery,
  startDelivery,
} from '../services/deliveries/start-delivery.ts';
import { deliveryWorkflowId } from '../temporal/names.ts';
import { workflowState } from '../temporal/workflows.ts';
import { reconcile, takeOverdue } from './reconcile.ts';

/** Those that were never started are the relay's. */
const STARTED = `${deliveryStates.in(UNFINISHED_DELIVERY)} and (${deliveryStates.in(['waiting'])} or started_at is not null)`;

const TAKE = {
  text: `with taken as (${takeOverdue('deliveries', STARTED)} returning *)
         select ${STORED_DELIVERY}
         from taken d join events e on e.id = d.event_id left join webhooks w on w.id = d.webhook_id`,
};

async function reconcileOne(
  db: Database,
  starter: DeliveryStarter,
  log: Logger,
  delivery: StoredDelivery,
): Promise<void> {
  const { query } = db.system;
  const state = await workflowState(starter.client, deliveryWorkflowId(delivery));
  if (state === 'missing' && (await startDelivery(query, starter, delivery)))
    log.warn({ delivery_id: delivery.id }, 'started a delivery that had been left without its workflow');
  if (state === 'closed') {
    await abandonOne(query, delivery.id, 'Its workflow was ended by an operator.');
    log.warn({ delivery_id: delivery.id }, 'ended a delivery whose workflow had been ended from outside');
  }
}

/**
 * One look at what should have been sent by now: starts a delivery anew whose workflow Temporal has lost, where it left off, and
 * ends one whose workflow was ended from outside. Those that wait for hours are left alone until then.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileDeliveries(db: Database, starter: DeliveryStarter, log: Logger): Promise<void> {
  return reconcile<StoredDelivery & Record<string, unknown>>(db.system.query, log, {
    table: 'deliveries',
    take: TAKE,
    reconcile: (delivery) => reconcileOne(db, starter, log, delivery),
  });
}
