import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { inStates } from '../../db/state-change.ts';
import { ApiError } from '../../domain/errors.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluations/evaluation-states.ts';
import { publicId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';
import { type DatasetRow, getDataset } from './datasets.ts';

/**
 * Deletes a dataset with all versions and examples. Results of evaluations are kept; the version numbers of the name are not reused.
 * @returns the dataset as it was
 * @throws ApiError `not_found`; `invalid_state` while an unfinished evaluation uses it
 */
export async function deleteDataset(db: WorkspaceDatabase, name: string): Promise<DatasetRow> {
  return db.transaction(async (query) => {
    // No version can be added from here on.
    await query((own) => own.selectFrom('datasets').select('id').where('name', '=', name).forUpdate());
    // Waits for evaluations that are being stored, which have locked the version they use.
    const locked = await query((own) =>
      own
        .selectFrom('datasets as d')
        .innerJoin('dataset_versions as v', 'v.dataset_id', 'd.id')
        .select('v.id')
        .where('d.name', '=', name)
        .orderBy('v.id')
        .forUpdate('v'),
    );
    const versions = locked.map(({ id }) => id);
    const usesVersion = sql<boolean>`examples_id = any(${versions}::uuid[])`;
    const row = await getDataset(query, name);
    const [user] = await query((own) =>
      own
        .selectFrom('evaluations')
        .select('id')
        .where(usesVersion)
        .where(inStates(evaluationStates, UNFINISHED_EVALUATION))
        .orderBy('id')
        .limit(1),
    );
    if (user)
      throw new ApiError(
        'invalid_state',
        `The evaluation ${publicId('evaluation', user.id)} has not ended and uses this dataset. Cancel it or wait for its end.`,
      );
    await query((own) => own.updateTable('evaluations').set({ examples_id: null }).where(usesVersion));
    // There may be millions of examples: they are hidden immediately, and `sweep` deletes them later in small steps.
    await query((own) =>
      own.updateTable('dataset_versions').set({ dataset_id: null }).where(sql<boolean>`id = any(${versions}::uuid[])`),
    );
    await query((own) => own.updateTable('datasets').set({ description: null }).where('name', '=', name));
    await recordChange(query, 'dataset.deleted', name, { versions: versions.length });
    return row;
  });
}
