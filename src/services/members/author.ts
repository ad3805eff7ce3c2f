import { publicId } from '../../domain/ids.ts';
import type { AuthenticatedKey } from '../access/authenticate.ts';
import { ownMemberOf } from './personal-keys.ts';

/** Who says something, as scores and reviews name it: a member is one person with all sessions and personal keys. */
export function authorOf(key: AuthenticatedKey): string {
  const memberId = ownMemberOf(key);
  if (memberId !== undefined) return publicId('member', memberId);
  return key.sessionId === undefined ? publicId('apiKey', key.id) : publicId('session', key.sessionId);
}
