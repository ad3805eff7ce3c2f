import { sql } from 'kysely';
import { inStates } from '../db/state-change.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';
import { abandonOne } from '../services/webhooks/deliveries/abandon-deliveries.ts';
import { msUntil } from '../services/webhooks/deliveries/read-attempt.ts';
import {
  type DeliveryStarter,
  STORED_DELIVERY,
  startDelivery,
} from '../services/webhooks/deliveries/start-delivery.ts';
import { deliveryWorkflowId } from '../temporal/names.ts';
import { compareWithWorkflow, type ReconcileDeps, reconcile } from './reconcile.ts';

/** A delivery whose workflow is started here continues with its next attempt. A delivery that waits for a retry is not overdue before that. */
export const reconcileDeliveries = (deps: ReconcileDeps & { starter: DeliveryStarter }): Promise<void> =>
  reconcile(deps, {
    table: 'deliveries',
    // The relay makes the first attempt of the others.
    due: sql<boolean>`${inStates(deliveryStates, UNFINISHED_DELIVERY)}
      and (${inStates(deliveryStates, ['waiting'])} or started_at is not null)`,
    read: (db) =>
      db
        .selectFrom('deliveries as d')
        .innerJoin('taken', 'taken.id', 'd.id')
        .innerJoin('events as e', 'e.id', 'd.event_id')
        .leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
        .select(STORED_DELIVERY)
        .select((eb) => [
          eb('d.started_at', 'is', null).as('untold'),
          'd.status_reason as reason',
          msUntil(sql.ref('d.next_attempt_at')).as('nextInMs'),
        ]),
    reconcile({ reason, nextInMs, untold, ...delivery }) {
      const { query } = deps.db.system;
      const firstWait = reason !== null && nextInMs !== null && nextInMs > 0 ? { waitMs: nextInMs, reason } : undefined;
      const start = () => startDelivery(query, deps.starter, delivery, firstWait);
      return compareWithWorkflow(
        deps,
        'delivery',
        { id: delivery.id, untold },
        {
          workflowId: deliveryWorkflowId(delivery),
          // Its row does not show yet that it was started.
          tell: start,
          start,
          end: () =>
            abandonOne(
              query,
              delivery.id,
              'An operator ended its workflow, or its end is missing from a restored database.',
            ),
        },
      );
    },
  });
