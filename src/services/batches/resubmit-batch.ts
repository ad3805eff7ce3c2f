import type { WorkspaceDatabase } from '../../db/database.ts';
import { changeState } from '../../db/state-change.ts';
import { providerBatchStates } from '../../domain/batches/provider-batch-states.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { batchWorkflowId } from '../../temporal/names.ts';
import { tellChanged, type WorkflowStarter } from '../../temporal/workflows.ts';
import { recordChange } from '../audit/record-change.ts';

const AGAIN = changeState(providerBatchStates, { to: 'preparing', from: ['unknown'] });

/**
 * Submits a batch again that the provider may have without us having found it: a person says that it does not, or pays for it twice.
 * Its workflow is told; where that fails it notices within ten minutes.
 * @throws ApiError `not_found`; `invalid_state` where it is not `unknown`
 */
export async function resubmitBatch(
  { db, client }: { db: WorkspaceDatabase } & Pick<WorkflowStarter, 'client'>,
  { evaluationId, number }: { evaluationId: string; number: number },
): Promise<void> {
  const id = await db.transaction(async (query) => {
    const [batch] = await query((own) =>
      own
        .selectFrom('provider_batches')
        .select(['id', 'status'])
        .where('evaluation_id', '=', evaluationId)
        .where('number', '=', number)
        .forUpdate(),
    );
    if (batch === undefined) throw notFound('This batch');
    const again = await query((own) =>
      own
        .updateTable('provider_batches')
        .set({ ...AGAIN.set, error: null })
        .where('id', '=', batch.id)
        .where(AGAIN.where)
        .returning('id'),
    );
    if (again.length === 0)
      throw new ApiError(
        'invalid_state',
        `This batch is ${batch.status}: only one that is unknown can be submitted again.`,
      );
    await recordChange(query, 'evaluation.batch_resubmitted', publicId('evaluation', evaluationId), { number });
    return batch.id;
  });
  // Looked at anyhow within ten minutes.
  await tellChanged({ client }, batchWorkflowId(id)).catch(() => false);
}
