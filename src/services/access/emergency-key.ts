import type { WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { newId } from '../../domain/ids.ts';
import { type ApiKeyRow, createApiKey, generateApiKey, SCOPES } from './api-keys.ts';

/**
 * Makes a key with all scopes that signs in at the console where other keys do not, and for a while only. The audit log has it with its
 * reason, and the owner of the workspace is notified.
 * @param reason one line
 */
export async function createEmergencyKey(
  db: WorkspaceDatabase,
  { reason, minutes }: { reason: string; minutes: number },
): Promise<{ key: ApiKeyRow; text: string }> {
  const text = generateApiKey();
  const expiresAt = new Date(Date.now() + minutes * 60_000);
  return db.transaction(async (query) => {
    const key = await createApiKey(query, text, {
      name: 'emergency',
      scopes: [...SCOPES],
      expiresAt,
      kind: 'emergency',
      reason,
    });
    await query((own) =>
      own.insertInto('notifications').values({
        id: newId(),
        type: 'emergency_key.created',
        message: `An operator made an emergency key with all scopes, valid until ${expiresAt.toISOString()}: ${reason}`,
        email_pending: true,
        created_at: now,
      }),
    );
    return { key, text };
  });
}
