import { claim } from '../db/claim.ts';
import type { Query } from '../db/database.ts';
import { BATCH_ROWS } from '../db/delete-in-batches.ts';
import { inStates } from '../db/state-change.ts';
import { OWNER, TRASH_WORKSPACE } from '../db/trash.ts';
import { ENDED_EVALUATION, evaluationStates } from '../domain/evaluations/evaluation-states.ts';
import { hasUnfinishedBatches } from '../services/batches/other-batches.ts';

// Resources with many rows of their own are hidden first; `sweep` deletes them.

/** @returns the number of rows, at most `BATCH_ROWS` */
export async function evaluationsToTrash(query: Query, workspaceId: string): Promise<number> {
  const moved = await query((db) =>
    db
      .updateTable('evaluations')
      .set(OWNER, TRASH_WORKSPACE)
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('evaluations')
          .select('id')
          .where('workspace_id', '=', workspaceId)
          .where(inStates(evaluationStates, ENDED_EVALUATION))
          .where((eb) => eb.not(hasUnfinishedBatches()))
          .orderBy('id')
          .$call(claim(BATCH_ROWS)),
      )
      .returning('id'),
  );
  return moved.length;
}

/** @returns the number of rows, at most `BATCH_ROWS` */
export async function examplesToTrash(query: Query, workspaceId: string): Promise<number> {
  const moved = await query((db) =>
    db
      .updateTable('dataset_versions')
      .set(OWNER, TRASH_WORKSPACE)
      .set({ dataset_id: null })
      .where('id', 'in', (eb) =>
        eb.selectFrom('dataset_versions').select('id').where('workspace_id', '=', workspaceId).$call(claim(BATCH_ROWS)),
      )
      .returning('id'),
  );
  return moved.length;
}
