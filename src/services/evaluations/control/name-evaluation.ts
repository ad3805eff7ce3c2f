import type { WorkspaceDatabase } from '../../../db/database.ts';
import { publicId } from '../../../domain/ids.ts';
import { recordChange } from '../../audit/record-change.ts';
import { type CurrentEvaluation, getCurrentEvaluation, getEvaluation } from '../evaluations.ts';

/**
 * Sets the title of an evaluation.
 * @param name null removes it
 * @throws ApiError `not_found`
 */
export async function nameEvaluation(
  db: WorkspaceDatabase,
  id: string,
  name: string | null,
): Promise<CurrentEvaluation> {
  await db.transaction(async (query) => {
    const row = await getEvaluation(query, id);
    const changed = await query((builder) =>
      builder
        .updateTable('evaluations')
        .set({ name })
        .where('id', '=', row.id)
        .where('name', 'is distinct from', name)
        .returning('id'),
    );
    if (changed.length > 0) await recordChange(query, 'evaluation.updated', publicId('evaluation', row.id));
  });
  return getCurrentEvaluation(db, id);
}
