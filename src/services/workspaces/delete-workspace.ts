import type { SystemDatabase } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { unknownWorkspace, WORKSPACE_COLUMNS, type WorkspaceRow } from './workspaces.ts';

/** Its name is free at once. */
const MARK = {
  text: `update workspaces set deleted_at = now(), name = name || ' (deleted ' || id || ')'
         where name = $1 and deleted_at is null returning ${WORKSPACE_COLUMNS}`,
};
/** Processes that remember a key are told when the transaction ends. */
const DELETE_KEYS = {
  text: `with gone as (delete from api_keys where workspace_id = $1 returning hash)
         select count(pg_notify('${CHANNELS.apiKeyRevoked}', encode(hash, 'hex')))::int as count from gone`,
};

/**
 * Deletes a workspace: from now on its keys are refused everywhere, and it is not listed any more. Workers end what it has under
 * way and delete its rows (`removeWorkspaces`).
 * @returns it as it was, and how many keys it had
 * @throws ApiError `not_found`
 */
export async function deleteWorkspace(db: SystemDatabase, name: string): Promise<WorkspaceRow & { keys: number }> {
  return db.transaction(async (query) => {
    const [row] = await query<WorkspaceRow>(MARK, [name]);
    if (row === undefined) throw unknownWorkspace(name);
    const [deleted] = await query<{ count: number }>(DELETE_KEYS, [row.id]);
    return { ...row, name, keys: deleted?.count ?? 0 };
  });
}
