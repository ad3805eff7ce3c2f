import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { newId } from '../../domain/ids.ts';
import { SCOPES } from '../../domain/scopes.ts';
import { hashApiKey } from '../access/api-keys.ts';

export type MemberRow = Selectable<Tables['members']>;

/**
 * The key that the sessions of a member belong to. No one knows its text, so it cannot be sent; its scopes follow the
 * member's role. Created if missing.
 * @param query of the member's workspace, in a transaction that has locked the member's row
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
