import type { Query } from '../../db/database.ts';
import { parsePublicId, publicId } from '../../domain/ids.ts';
import type { AuthenticatedKey } from '../access/authenticate.ts';
import { ownMemberOf } from '../access/personal-keys.ts';

declare const brand: unique symbol;
/**
 * The public id of a holder. Where people are told apart (approvers, authors, reviewers, owners), ids have this type, which only the functions of this file
 * give: the id of a key that was made from another does not pass for one.
 */
export type HolderId = string & { readonly [brand]: 'holder' };

/**
 * Who stands behind a request, as a public id: the member whose session or personal key it is, otherwise the key of the workspace, also if the
 * request came with one of its sessions or with a key that was made from it. So a holder is one author, one reviewer and one owner of views, with
 * however many keys.
 */
export function holderOf(key: AuthenticatedKey): HolderId {
  const memberId = ownMemberOf(key);
  return (memberId === undefined ? publicId('apiKey', key.rootKeyId) : publicId('member', memberId)) as HolderId;
}

/**
 * The same for public ids that were stored: keys that were made from another are replaced by it, other ids are returned unchanged.
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
