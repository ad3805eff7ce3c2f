import { sql } from 'kysely';
import type { SystemDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../../domain/batches/provider-batch-states.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../../domain/releases/release-states.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../../domain/webhooks/delivery-states.ts';

/** The number of rows to compare, by table. */
export type Checked = Record<
  'executions' | 'evaluations' | 'provider_batches' | 'releases' | 'deliveries' | 'schedules',
  number
>;

/** There may be hours of unfinished work. */
const UNHURRIED = { statementTimeoutMs: 0 };

/**
 * Schedules all unfinished work to be compared with Temporal at the next reconciliation, and its workflows to read their rows:
 * after either side was restored, their states are from different times.
 */
export function checkAll({ transaction }: SystemDatabase): Promise<Checked> {
  return transaction(async (query) => {
    const unfinished = {
      executions: inStates(executionStates, UNFINISHED_EXECUTION),
      provider_batches: inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH),
      deliveries: inStates(deliveryStates, UNFINISHED_DELIVERY),
      schedules: sql<boolean>`true`,
    };
    const told = {
      evaluations: inStates(evaluationStates, UNFINISHED_EVALUATION),
      releases: inStates(releaseStates, UNFINISHED_RELEASE),
    };
    const counts: Checked = {
      executions: 0,
      evaluations: 0,
      provider_batches: 0,
      releases: 0,
      deliveries: 0,
      schedules: 0,
    };
    for (const table of ['executions', 'provider_batches', 'deliveries', 'schedules'] as const)
      counts[table] = (
        await query((db) => db.updateTable(table).set({ check_at: now }).where(unfinished[table]).returning('id'))
      ).length;
    for (const table of ['evaluations', 'releases'] as const)
      counts[table] = (
        await query((db) =>
          db.updateTable(table).set({ check_at: now, signal_pending: true }).where(told[table]).returning('id'),
        )
      ).length;
    return counts;
  }, UNHURRIED);
}
