import { bindWorkspace, type Database } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { newId } from '../../domain/ids.ts';
import { createApiKey, hashApiKey, SCOPES } from '../access/api-keys.ts';
import { actAs, OPERATOR } from '../audit/acting.ts';

export const DEFAULT_WORKSPACE = 'default';
export const DEFAULT_OWNER = 'owner@localhost';

/**
 * Creates the workspace `default` and its first key, with all scopes, if they are missing. A revoked key stays revoked.
 * @param key the text of the key
 */
export async function ensureFirstKey(db: Database, key: string): Promise<void> {
  await actAs(OPERATOR, () =>
    db.system.transaction(async (query) => {
      await query((all) =>
        all
          .insertInto('workspaces')
          .values({ id: newId(), name: DEFAULT_WORKSPACE, owner_email: DEFAULT_OWNER, created_at: now })
          .onConflict((conflict) => conflict.column('name').doNothing()),
      );
      // The lock prevents two processes that start at the same time from both creating the key.
      const [workspace] = await query((all) =>
        all.selectFrom('workspaces').select('id').where('name', '=', DEFAULT_WORKSPACE).forUpdate(),
      );
      const [known] = await query((all) => all.selectFrom('api_keys').select('id').where('hash', '=', hashApiKey(key)));
      if (workspace === undefined || known) return;
      await createApiKey(bindWorkspace(query, workspace.id), key, {
        name: 'bootstrap',
        scopes: [...SCOPES],
        expiresAt: null,
      });
    }),
  );
}
