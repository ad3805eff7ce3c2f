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
 * Resubmits a batch that the provider may have although the service did not find it: a person confirms that the provider does not
 * have it, or accepts paying twice. Signals its workflow, which otherwise notices within ten minutes.
 * @throws ApiError `not_found`; `invalid_state` if it is not `unknown`
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
        `This batch is ${batch.status}: only an unknown batch can be submitted again.`,
      );
    await recordChange(query, 'evaluation.batch_resubmitted', publicId('evaluation', evaluationId), { number });
    return batch.id;
  });
  // The workflow polls within ten minutes anyway.
  await tellChanged({ client }, batchWorkflowId(id)).catch(() => false);
}
