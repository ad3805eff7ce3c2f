import { publicId } from '../../domain/ids.ts';
import type { ApiKeyRow } from './api-keys.ts';

/** An API key as shown to API callers and operators. */
export function presentApiKey(key: ApiKeyRow) {
  return {
    id: publicId('apiKey', key.id),
    name: key.name,
    kind: key.kind,
    member_id: key.member_id === null ? null : publicId('member', key.member_id),
    scopes: key.scopes,
    expires_at: key.expires_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null,
    last_used_at: key.last_used_at?.toISOString() ?? null,
    created_at: key.created_at.toISOString(),
  };
}
