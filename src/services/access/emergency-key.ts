import type { WorkspaceDatabase } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import { newId } from '../../domain/ids.ts';
import { type ApiKeyRow, createApiKey, generateApiKey, SCOPES } from './api-keys.ts';

/**
 * Creates a short-lived key with all scopes that can sign in at the console when other keys cannot. The audit log records it with
 * its reason, and the owner of the workspace is notified.
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
