import { bindWorkspace, type Database } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { OWNER, TRASH_WORKSPACE } from '../../db/trash.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { ENDED_EVALUATION, evaluationStates } from '../../domain/evaluations/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import { hasUnfinishedBatches } from '../batches/other-batches.ts';
import { type ImprovementRow, lockImprovement } from './improvements.ts';

/**
 * Deletes an ended improvement with its candidates, and its evaluations, which no list shows: they leave the workspace now, and
 * their results are deleted later. Which examples were seen stays, because a verdict depends on it.
 * @returns it as it was
 * @throws ApiError `not_found`, `invalid_state`, also if a batch of an evaluation has not ended
 */
export function deleteImprovement({ system }: Database, workspaceId: string, id: string): Promise<ImprovementRow> {
  return system.transaction(async (query) => {
    const own = bindWorkspace(query, workspaceId);
    const row = await lockImprovement(own, id);
    if (row === undefined) throw notFound('This improvement');
    const name = publicId('improvement', id);
    if (row.status === 'running' || row.status === 'paused')
      throw new ApiError('invalid_state', `${name} is ${row.status}: cancel it first, or wait for its end.`);
    await query((db) =>
      db
        .updateTable('evaluations')
        .set(OWNER, TRASH_WORKSPACE)
        .where('workspace_id', '=', workspaceId)
        .where('improvement_id', '=', id)
        .where(inStates(evaluationStates, ENDED_EVALUATION))
        .where((eb) => eb.not(hasUnfinishedBatches())),
    );
    const left = await own((db) => db.selectFrom('evaluations').select('id').where('improvement_id', '=', id).limit(1));
    if (left.length > 0)
      throw new ApiError('invalid_state', `An evaluation of ${name} has a batch at its provider: wait for its end.`);
    await own((db) => db.deleteFrom('idempotency_keys').where('resource_id', '=', id));
    await own((db) => db.deleteFrom('improvement_candidates').where('improvement_id', '=', id));
    await own((db) => db.deleteFrom('improvements').where('id', '=', id));
    await recordChange(own, 'improvement.deleted', name, { prompt_name: row.prompt_name });
    return row;
  });
}
