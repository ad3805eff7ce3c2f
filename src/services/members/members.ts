import { randomBytes } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { CHANNELS } from '../../db/listener.ts';
import { anyOf, notify, now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { newId } from '../../domain/ids.ts';
import { SCOPES } from '../../domain/scopes.ts';
import { hashApiKey } from '../access/api-keys.ts';

export type MemberRow = Selectable<Tables['members']>;

/**
 * The key that the sessions of a member belong to. Nobody knows its text, so nobody can send it; what it may do is what the member's role may.
 * Made where there is none.
 * @param query of the member's workspace, in a transaction that holds the member's row
 */
export async function signInKeyOf(query: Query, { id, name }: Pick<MemberRow, 'id' | 'name'>): Promise<string> {
  const [known] = await query((own) =>
    own
      .updateTable('api_keys')
      .set({ name })
      .where('member_id', '=', id)
      .where('kind', '=', 'sign_in')
      .where('revoked_at', 'is', null)
      .returning('id'),
  );
  if (known !== undefined) return known.id;
  const [made] = await query((own) =>
    own
      .insertInto('api_keys')
      .values({
        id: newId(),
        kind: 'sign_in',
        member_id: id,
        name,
        hash: hashApiKey(randomBytes(32).toString('hex')),
        scopes: [...SCOPES],
        created_at: now,
      })
      .returning('id'),
  );
  if (made === undefined) throw new Error('The new key was not returned.');
  return made.id;
}

/** Makes every process look again what the keys and sessions of members may do, once the transaction commits. */
export async function forgetKeysOf(query: Query, memberIds: string | readonly string[]): Promise<void> {
  const ids = [memberIds].flat();
  if (ids.length === 0) return;
  await query((own) =>
    own
      .selectFrom('api_keys')
      .select(notify(CHANNELS.apiKeyRevoked, sql`encode(hash, 'hex')`).as('notified'))
      .where('member_id', '=', anyOf(ids))
      .where('revoked_at', 'is', null),
  );
}

/**
 * Ends the sessions of members everywhere.
 * @param revoke also revokes the members' own keys for good
 */
export async function endAccessOf(
  query: Query,
  memberIds: string | readonly string[],
  { revoke }: { revoke: boolean },
): Promise<void> {
  const ids = [memberIds].flat();
  if (ids.length === 0) return;
  await query((own) =>
    own
      .deleteFrom('sessions')
      .where('api_key_id', 'in', (eb) => eb.selectFrom('api_keys').select('id').where('member_id', '=', anyOf(ids))),
  );
  await forgetKeysOf(query, ids);
  if (!revoke) return;
  await query((own) =>
    own
      .updateTable('api_keys')
      .set({ revoked_at: now })
      .where('member_id', '=', anyOf(ids))
      .where('revoked_at', 'is', null),
  );
}
