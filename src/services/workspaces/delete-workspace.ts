import { sql } from 'kysely';
import { bindWorkspace, type SystemDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { forgetKey } from '../access/end-access.ts';
import { unknownWorkspace, WORKSPACE_COLUMNS, type WorkspaceRow } from './workspaces.ts';

/**
 * Deletes a workspace: from now on its keys are refused everywhere, and it is no longer listed. Workers end its running work
 * and delete its rows (`removeWorkspaces`).
 * @returns it before the deletion, and its number of keys
 * @throws ApiError `not_found`
 */
export async function deleteWorkspace(db: SystemDatabase, name: string): Promise<WorkspaceRow & { keys: number }> {
  return db.transaction(async (query) => {
    // Its name is available immediately.
    const [row] = await query((all) =>
      all
        .updateTable('workspaces')
        .set({ deleted_at: now, name: sql<string>`name || ' (deleted ' || id || ')'` })
        .where('name', '=', name)
        .where('deleted_at', 'is', null)
        .returning(WORKSPACE_COLUMNS),
    );
    if (row === undefined) throw unknownWorkspace(name);
    // Processes that have cached a key are notified when the transaction ends.
    const deleted = await bindWorkspace(
      query,
      row.id,
    )((own) =>
      own
        .with('gone', (cte) => cte.deleteFrom('api_keys').returning(['hash', 'kind']))
        .selectFrom('gone')
        .select('kind')
        .select(forgetKey),
    );
    return { ...row, name, keys: deleted.filter(({ kind }) => kind !== 'sign_in').length };
  });
}
