import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError } from '../../domain/errors.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import { type DatasetRow, getDataset } from './datasets.ts';

/** From here on no version is added. */
const LOCK = { text: 'select id from datasets where workspace_id = $1 and name = $2 for update' };
/** Waits for evaluations that are just being stored: they hold the version they mean to use. */
const LOCK_VERSIONS = {
  text: `select v.id from datasets d join dataset_versions v on v.dataset_id = d.id
         where d.workspace_id = $1 and d.name = $2 order by v.id for update of v`,
};
const FIND_USER = {
  text: `select id from evaluations
         where workspace_id = $1 and examples_id = any($2::uuid[]) and ${evaluationStates.in(UNFINISHED_EVALUATION)}
         order by id limit 1`,
};
const RELEASE = {
  text: 'update evaluations set examples_id = null where workspace_id = $1 and examples_id = any($2::uuid[])',
};
/** There may be millions of examples: they are out of sight at once, and deleted in small steps later (`sweep`). */
const DETACH = {
  text: 'update dataset_versions set dataset_id = null where workspace_id = $1 and id = any($2::uuid[])',
};
const FORGET = { text: 'update datasets set description = null where workspace_id = $1 and name = $2' };

/**
 * Deletes a dataset with all versions and examples. Results of evaluations stay; the name's version numbers are not used again.
 * @returns the dataset as it was
 * @throws ApiError `not_found`; `invalid_state` while an evaluation that has not ended uses it
 */
export async function deleteDataset(db: WorkspaceDatabase, name: string): Promise<DatasetRow> {
  return db.transaction(async (query) => {
    await query(LOCK, [name]);
    const versions = (await query<{ id: string }>(LOCK_VERSIONS, [name])).map(({ id }) => id);
    const row = await getDataset(query, name);
    const [user] = await query<{ id: string }>(FIND_USER, [versions]);
    if (user)
      throw new ApiError(
        'invalid_state',
        `The evaluation ${publicId('evaluation', user.id)} has not ended and uses this dataset. Cancel it or wait for its end.`,
      );
    await query(RELEASE, [versions]);
    await query(DETACH, [versions]);
    await query(FORGET, [name]);
    return row;
  });
}
