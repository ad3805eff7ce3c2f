import type { WorkspaceDatabase } from '../../../db/database.ts';
import { TRASH_WORKSPACE } from '../../../db/trash.ts';
import { providerBatchStates, UNFINISHED_PROVIDER_BATCH } from '../../../domain/batches/provider-batch-states.ts';
import { ApiError } from '../../../domain/errors.ts';
import {
  ENDED_EVALUATION,
  type EvaluationStatus,
  evaluationStates,
} from '../../../domain/evaluations/evaluation-states.ts';
import { publicId } from '../../../domain/ids.ts';
import { recordChange } from '../../audit/record-change.ts';
import { type EvaluationRow, getCurrentEvaluation, getEvaluation } from '../evaluations.ts';

// raw SQL: the builder does not allow moving a row out of its workspace.
/** An evaluation may have a million results: it leaves the workspace immediately, and its rows are deleted later. */
const DELETE = {
  text: `with gone as (
           update evaluations set workspace_id = '${TRASH_WORKSPACE}'
           where workspace_id = $1 and id = $2 and ${evaluationStates.in(ENDED_EVALUATION)}
             and not exists (
               select 1 from provider_batches as b
               where b.evaluation_id = evaluations.id and ${providerBatchStates.in(UNFINISHED_PROVIDER_BATCH, 'b')}
             )
           returning id
         ), keys as (
           delete from idempotency_keys where workspace_id = $1 and resource_id in (select id::text from gone)
         ) select id from gone`,
};

/**
 * Deletes an ended evaluation with its results, judgements and inline examples. Its usage still counts in the usage sums. Runs
 * already compared with it keep the outcome; a run not yet compared is compared with its threshold instead.
 * @returns it as it was
 * @throws ApiError `not_found`, `invalid_state`, also if its batches have not ended
 */
export async function deleteEvaluation(db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await getCurrentEvaluation(db, id);
  const isDeleted = await db.transaction(async (query) => {
    const [deleted] = await query<{ id: string }>(DELETE, [row.id]);
    if (deleted)
      await recordChange(query, 'evaluation.deleted', publicId('evaluation', id), { prompt_name: row.prompt_name });
    return deleted !== undefined;
  });
  if (isDeleted) return row;
  const { status } = await getEvaluation(db.query, id);
  if ((ENDED_EVALUATION as readonly EvaluationStatus[]).includes(status))
    throw new ApiError(
      'invalid_state',
      'Batches of this evaluation have not ended at their provider: wait for their end.',
    );
  throw new ApiError('invalid_state', `This evaluation is ${status}: cancel it first, or wait for its end.`);
}
