import type { z } from 'zod';
import { publicId } from '../../domain/ids.ts';
import { scopesWithin } from '../../domain/roles.ts';
import type { AuthenticatedKey } from '../../services/access/authenticate.ts';
import type { SessionRow } from '../../services/access/sessions.ts';
import type { Session } from './schema.ts';

/**
 * @param caller a key of the same workspace
 * @param currentId the id of the caller's session. Default: the session of the request, if any
 */
export function presentSession(
  row: SessionRow,
  caller: AuthenticatedKey,
  currentId: string | undefined = caller.sessionId,
): z.input<typeof Session> {
  return {
    id: publicId('session', row.id),
    key: {
      id: publicId('apiKey', row.key_id),
      name: row.key_name,
      scopes: scopesWithin(row.key_scopes, row.role),
    },
    workspace: { name: caller.workspaceName },
    member:
      row.member_id === null || row.member_name === null || row.role === null
        ? null
        : { id: publicId('member', row.member_id), name: row.member_name, role: row.role },
    provider: row.provider,
    is_current: row.id === currentId,
    address: row.address,
    user_agent: row.user_agent,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at.toISOString(),
    expires_at: row.expires_at.toISOString(),
  };
}
