import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { anyOf, notify, now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { publicId } from '../../domain/ids.ts';
import { recordChanges } from '../audit/record-change.ts';

/** Makes every process re-check keys and their sessions. Select it from `api_keys`. */
export const forgetKey = notify(CHANNELS.apiKeyRevoked, sql`encode(hash, 'hex')`).as('notified');

/** Whose access to end: that of members, through all their keys, or that of single keys. */
export type AccessOwner = { members: readonly string[] } | { keys: readonly string[] };

/**
 * Ends or reduces the access of keys: in the caller's transaction, and in every process once it commits.
 * @param query in a transaction that has locked the rows of the members or of the keys
 * @param ends `keys`: revokes the keys and ends their sessions. `sessions`: ends only the sessions. `nothing`: the permissions have changed
 * @returns the revoked keys
 */
export async function endAccess(
  query: Query,
  owner: AccessOwner,
  ends: 'keys' | 'sessions' | 'nothing',
): Promise<{ id: string; name: string }[]> {
  if ('members' in owner && owner.members.length === 0) return [];
  const isMeant = (eb: ExpressionBuilder<Tables, 'api_keys'>) =>
    eb.and([
      eb('revoked_at', 'is', null),
      'members' in owner ? eb('member_id', '=', anyOf(owner.members)) : eb('id', '=', anyOf(owner.keys)),
    ]);
  await query((own) => own.selectFrom('api_keys').select(forgetKey).where(isMeant));
  if (ends !== 'nothing')
    await query((own) =>
      own.deleteFrom('sessions').where('api_key_id', 'in', own.selectFrom('api_keys').select('id').where(isMeant)),
    );
  if (ends !== 'keys') return [];
  return query((own) => own.updateTable('api_keys').set({ revoked_at: now }).where(isMeant).returning(['id', 'name']));
}

/**
 * Ends sessions, with an audit log entry for each. @param which the id of a session, or a statement that selects ids
 * @returns the sessions that this call ended, with the hashes of their tokens
 */
export async function endSessions(
  query: Query,
  which:
    | string
    | ((eb: ExpressionBuilder<Tables, 'sessions'>) => SelectQueryBuilder<Tables, 'sessions', { id: string }>),
  reason?: string,
): Promise<{ id: string; hash: Buffer }[]> {
  const ended = await query((own) =>
    own
      .with('ended', (cte) =>
        cte
          .deleteFrom('sessions')
          .where((eb) => (typeof which === 'string' ? eb('id', '=', which) : eb('id', 'in', which(eb))))
          .returning(['id', 'hash', 'api_key_id']),
      )
      .selectFrom('ended')
      .select(['id', 'hash', 'api_key_id', notify(CHANNELS.sessionEnded, sql`encode(hash, 'hex')`).as('notified')]),
  );
  await recordChanges(
    query,
    'session.ended',
    ended.map(({ id, api_key_id: key }) => ({
      resourceId: publicId('session', id),
      details: { key_id: publicId('apiKey', key), ...(reason !== undefined && { reason }) },
    })),
  );
  return ended;
}
