import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../domain/batches/provider-batch-states.ts';
import { type StoredBatch, startBatchWorkflow } from '../services/batches/batch-workflow.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

const take = (db: Builder) =>
  overdue(db, 'provider_batches', inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH))
    .with('claimed', (cte) =>
      cte
        .updateTable('provider_batches as b')
        .from('overdue')
        .set({ check_at: NEXT_CHECK })
        .whereRef('b.id', '=', 'overdue.id')
        .returningAll('b'),
    )
    .selectFrom('claimed as b')
    .innerJoin('evaluations as e', 'e.id', 'b.evaluation_id')
    .select(['b.id', 'e.workspace_id as workspaceId', 'b.evaluation_id as evaluationId', 'e.prompt_name as promptName'])
    .select(['b.number', 'b.wave', 'b.evaluator', 'b.model']);

/**
 * Looks once at the batches that are overdue: starts the workflow of one that Temporal has lost or never got, and of one whose workflow was
 * ended from outside, since the provider may be at work on it.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileBatches(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile<StoredBatch>(db.system.query, log, {
    table: 'provider_batches',
    take,
    async reconcile(batch) {
      if (await startBatchWorkflow(starter, batch))
        log.warn({ batch_id: batch.id }, 'started a batch that had been left without its workflow');
    },
  });
}
