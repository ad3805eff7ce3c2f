import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { deliveryWorkflowId } from '../../temporal/names.ts';
import { workflowState } from '../../temporal/workflows.ts';
import { abandonOne } from './abandon-deliveries.ts';
import { type DeliveryStarter, STORED_DELIVERY, type StoredDelivery, startDelivery } from './start-delivery.ts';

const BATCH_SIZE = 200;

/** Deliveries that are overdue, each looked at by one process at a time. Those that wait for hours are left alone until then. */
const TAKE = {
  text: `with taken as (
           update deliveries set checked_at = now() where id in (
             select id from deliveries
             where status in ('queued', 'waiting') and (status = 'waiting' or started_at is not null)
               and coalesce(next_attempt_at, started_at, created_at) < now() - interval '1 minute'
               and (checked_at is null or checked_at < now() - interval '1 minute')
             order by id limit ${BATCH_SIZE} for update skip locked)
           returning *
         ) select ${STORED_DELIVERY} from taken d join events e on e.id = d.event_id left join webhooks w on w.id = d.webhook_id`,
};

/**
 * One look at what should have been sent by now: starts a delivery anew whose workflow Temporal has lost, where it left off, and
 * ends one whose workflow was ended from outside.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export async function rescueDeliveries(db: Database, starter: DeliveryStarter, log: Logger): Promise<void> {
  for (;;) {
    const overdue = await db.system.query<StoredDelivery>(TAKE);
    for (const delivery of overdue) {
      const state = await workflowState(starter.client, deliveryWorkflowId(delivery));
      if (state === 'missing' && (await startDelivery(db.system.query, starter, delivery)))
        log.warn({ delivery_id: delivery.id }, 'started a delivery that had been left without its workflow');
      if (state === 'closed') {
        await abandonOne(db.system.query, delivery.id, 'Its workflow was ended by an operator.');
        log.warn({ delivery_id: delivery.id }, 'ended a delivery whose workflow had been ended from outside');
      }
    }
    if (overdue.length < BATCH_SIZE) return;
  }
}
