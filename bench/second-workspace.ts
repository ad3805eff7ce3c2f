import { openDatabase } from '../src/db/database.ts';
import { createApiKey, generateApiKey, SCOPES } from '../src/services/access/api-keys.ts';
import { createWorkspace } from '../src/services/workspaces/workspaces.ts';

/** Creates a workspace next to the first one. @returns a key with all scopes */
export async function neighbourKey(databaseUrl: string, name = 'neighbour'): Promise<string> {
  const db = await openDatabase(databaseUrl, { poolSize: 2 });
  try {
    const { id } = await createWorkspace(db.system, name, 'owner@example.test');
    const key = generateApiKey();
    await db
      .workspace(id)
      .transaction((query) => createApiKey(query, key, { name: 'bench', scopes: [...SCOPES], expiresAt: null }));
    return key;
  } finally {
    await db.close();
  }
}
