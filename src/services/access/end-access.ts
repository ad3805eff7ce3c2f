import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { anyOf, notify, now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { publicId } from '../../domain/ids.ts';
import { recordChanges } from '../audit/record-change.ts';

/** Makes every process look again at keys and at their sessions: a column of `api_keys`. */
export const forgetKey = notify(CHANNELS.apiKeyRevoked, sql`encode(hash, 'hex')`).as('notified');

/** Whose access: of members, by all their keys, or of keys. */
export type AccessOwner = { members: readonly string[] } | { keys: readonly string[] };

/**
 * Ends access that rests on keys, or makes it less: in the caller's transaction, and in every process once it commits.
 * @param query in a transaction that holds the rows of the members or of the keys
 * @param ends `keys`: they are revoked for good, and their sessions end. `sessions`: only these. `nothing`: what they may do has changed
 * @returns the keys that were revoked
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
 * Ends sessions, with an entry in the audit log for each. @param which the id of one, or a statement that gives ids
 * @returns those that had not ended, with the hashes of their tokens
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
