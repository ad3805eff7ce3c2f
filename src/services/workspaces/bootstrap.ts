import { bindWorkspace, type Database } from '../../db/database.ts';
import { newId } from '../../domain/ids.ts';
import { createApiKey, hashApiKey, SCOPES } from '../access/api-keys.ts';

export const DEFAULT_WORKSPACE = 'default';
export const DEFAULT_OWNER = 'owner@localhost';

/**
 * Makes the workspace `default` and its first key, with all scopes, where they are missing. A key that was revoked stays so.
 * @param key the text of the key
 */
export async function ensureFirstKey(db: Database, key: string): Promise<void> {
  await db.system.transaction(async (query) => {
    await query(
      {
        text: `insert into workspaces (id, name, owner_email, created_at) values ($1, $2, $3, now())
               on conflict (name) do nothing`,
      },
      [newId(), DEFAULT_WORKSPACE, DEFAULT_OWNER],
    );
    // The lock keeps two processes that start at once from making the key twice.
    const [workspace] = await query<{ id: string }>({ text: 'select id from workspaces where name = $1 for update' }, [
      DEFAULT_WORKSPACE,
    ]);
    const [known] = await query({ text: 'select 1 from api_keys where hash = $1' }, [hashApiKey(key)]);
    if (workspace === undefined || known) return;
    await createApiKey(bindWorkspace(query, workspace.id), key, {
      name: 'bootstrap',
      scopes: [...SCOPES],
      expiresAt: null,
    });
  });
}
