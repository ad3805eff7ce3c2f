import type { Query } from '../../db/database.ts';
import { parsePublicId, publicId } from '../../domain/ids.ts';
import type { AuthenticatedKey } from '../access/authenticate.ts';
import { ownMemberOf } from '../access/personal-keys.ts';

declare const brand: unique symbol;
/**
 * The public id of a holder. All code that distinguishes people (approvers, authors, reviewers, owners) uses this type, which
 * only the functions of this file create, so that the id of a key derived from another is not mistaken for another person.
 */
export type HolderId = string & { readonly [brand]: 'holder' };

/**
 * Who is behind a request, as a public id: the member who owns the session or personal key, otherwise the key of the workspace,
 * also if the request used one of its sessions or a key derived from it. So a holder is one author, one reviewer and one owner of
 * views, however many keys they have.
 */
export function holderOf(key: AuthenticatedKey): HolderId {
  const memberId = ownMemberOf(key);
  return (memberId === undefined ? publicId('apiKey', key.rootKeyId) : publicId('member', memberId)) as HolderId;
}

/**
 * Maps stored public ids to holders: keys derived from another key are replaced by that key, other ids are returned unchanged.
 * @param query of the workspace
 */
export async function holdersOf(query: Query, ids: readonly string[]): Promise<(id: string) => HolderId> {
  const keyIds = ids.flatMap((id) => parsePublicId('apiKey', id) ?? []);
  if (keyIds.length === 0) return (id) => id as HolderId;
  const rows = await query((db) =>
    db.selectFrom('api_keys').select(['id', 'made_from']).where('id', 'in', keyIds).where('made_from', 'is not', null),
  );
  const roots = new Map(rows.map((row) => [publicId('apiKey', row.id), publicId('apiKey', row.made_from ?? row.id)]));
  return (id) => (roots.get(id) ?? id) as HolderId;
}
