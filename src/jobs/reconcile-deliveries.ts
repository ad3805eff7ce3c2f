import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/webhooks/delivery-states.ts';
import { abandonOne } from '../services/webhooks/deliveries/abandon-deliveries.ts';
import { msUntil } from '../services/webhooks/deliveries/read-attempt.ts';
import {
  type DeliveryStarter,
  STORED_DELIVERY,
  type StoredDelivery,
  startDelivery,
} from '../services/webhooks/deliveries/start-delivery.ts';
import { deliveryWorkflowId } from '../temporal/names.ts';
import { workflowState } from '../temporal/workflows.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

/** Of the others, the relay makes the first attempt. */
const PAST_FIRST_ATTEMPT = sql<boolean>`${inStates(deliveryStates, UNFINISHED_DELIVERY)}
  and (${inStates(deliveryStates, ['waiting'])} or started_at is not null)`;

const take = (db: Builder) =>
  overdue(db, 'deliveries', PAST_FIRST_ATTEMPT)
    .with('claimed', (cte) =>
      cte
        .updateTable('deliveries as d')
        .from('overdue')
        .set({ check_at: NEXT_CHECK })
        .whereRef('d.id', '=', 'overdue.id')
        .returningAll('d'),
    )
    .selectFrom('claimed as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .leftJoin('webhooks as w', 'w.id', 'd.webhook_id')
    .select(STORED_DELIVERY)
    .select([
      'd.started_at as startedAt',
      'd.status_reason as reason',
      msUntil(sql.ref('d.next_attempt_at')).as('nextInMs'),
    ]);

interface OverdueDelivery extends StoredDelivery {
  startedAt: Date | null;
  reason: string | null;
  nextInMs: number | null;
}

async function reconcileOne(
  db: Database,
  starter: DeliveryStarter,
  log: Logger,
  { startedAt, reason, nextInMs, ...delivery }: OverdueDelivery,
): Promise<void> {
  const { query } = db.system;
  const state = await workflowState(starter.client, deliveryWorkflowId(delivery));
  if (state === 'missing' || (state === 'running' && startedAt === null)) {
    const firstWait = reason !== null && nextInMs !== null && nextInMs > 0 ? { waitMs: nextInMs, reason } : undefined;
    if (await startDelivery(query, starter, delivery, firstWait))
      log.warn({ delivery_id: delivery.id }, 'started a delivery that had been left without its workflow');
  }
  if (state === 'closed') {
    await abandonOne(
      query,
      delivery.id,
      'An operator ended its workflow, or its end is missing from a restored database.',
    );
    log.warn({ delivery_id: delivery.id }, 'ended a delivery whose workflow had been ended from outside');
  }
}

/**
 * Checks the deliveries that are overdue: starts the workflow of one whose first attempt failed while Temporal was away, restarts one
 * that Temporal has lost, from its next attempt, and abandons one whose workflow was ended by an operator. A delivery that waits for a retry is not overdue before that.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileDeliveries(db: Database, starter: DeliveryStarter, log: Logger): Promise<void> {
  return reconcile(db.system.query, log, {
    table: 'deliveries',
    take,
    reconcile: (delivery) => reconcileOne(db, starter, log, delivery),
  });
}
