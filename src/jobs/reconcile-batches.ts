import { inStates } from '../db/state-change.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../domain/batches/provider-batch-states.ts';
import { startBatchWorkflow } from '../services/batches/batch-workflow.ts';
import { batchWorkflowId } from '../temporal/names.ts';
import { compareWithWorkflow, type ReconcileDeps, reconcile } from './reconcile.ts';

/** A batch whose workflow was terminated from outside also gets a new one, because the provider may be processing it. */
export const reconcileBatches = (deps: ReconcileDeps): Promise<void> =>
  reconcile(deps, {
    table: 'provider_batches',
    due: inStates(providerBatchStates, UNFINISHED_PROVIDER_BATCH),
    read: (db) =>
      db
        .selectFrom('provider_batches as b')
        .innerJoin('taken', 'taken.id', 'b.id')
        .innerJoin('evaluations as e', 'e.id', 'b.evaluation_id')
        .select(['b.id', 'e.workspace_id as workspaceId', 'b.evaluation_id as evaluationId'])
        .select(['e.prompt_name as promptName', 'b.number', 'b.wave', 'b.evaluator', 'b.model']),
    reconcile: (batch) =>
      compareWithWorkflow(deps, 'batch', batch, {
        workflowId: batchWorkflowId(batch.id),
        start: () => startBatchWorkflow(deps.starter, batch),
      }),
  });
