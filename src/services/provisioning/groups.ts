import { type Expression, type ExpressionBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { anyOf, now, unnestOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { newId, parsePublicId, publicId } from '../../domain/ids.ts';
import { syncMembersOf } from '../members/sync-members.ts';
import { invalidValue, notThere, taken } from './scim-error.ts';
import { inOne, isKnown, lockExternalId, lockUsers, type Part, type Provisioning, uuidOf } from './users.ts';

/** The maximum number of members of one group. */
export const MAX_GROUP_MEMBERS = 50_000;
/** The maximum number of members of all groups of a page. */
const MAX_PAGE_MEMBERS = 20_000;

/** The filters of a list; all must match. */
export interface GroupFilter {
  id?: string;
  displayName?: string;
  externalId?: string;
  /** The id of a user. */
  member?: string;
}

export type GroupRow = Selectable<Tables['user_groups']> & {
  /** Undefined if they were not requested. */
  members: { id: string; display: string }[] | undefined;
};

/** A change of a group; undefined fields are unchanged. */
export interface GroupChange {
  displayName?: string | undefined;
  externalId?: string | null | undefined;
  /** Ids of users. `only`: all others are removed. */
  members?: { only: boolean; add: ReadonlySet<string>; remove: ReadonlySet<string> } | undefined;
}

const GROUP_TAKEN = 'There is a group with this displayName or externalId already.';

function matching(eb: ExpressionBuilder<Tables, 'user_groups'>, filter: GroupFilter): Expression<SqlBool>[] {
  const { id, displayName, externalId, member } = filter;
  const conditions: Expression<SqlBool>[] = [sql<SqlBool>`true`];
  if (id !== undefined) conditions.push(eb('id', '=', uuidOf('userGroup', id)));
  if (displayName !== undefined) conditions.push(sql<SqlBool>`lower(display_name) = lower(${displayName})`);
  if (externalId !== undefined) conditions.push(eb('external_id', '=', externalId));
  if (member !== undefined)
    conditions.push(
      eb('id', 'in', (sub) =>
        sub.selectFrom('user_group_members').select('group_id').where('user_id', '=', uuidOf('user', member)),
      ),
    );
  return conditions;
}

async function withMembers(query: Query, groups: Selectable<Tables['user_groups']>[]): Promise<GroupRow[]> {
  const rows = await query((all) =>
    all
      .selectFrom('user_group_members as m')
      .innerJoin('users as u', 'u.id', 'm.user_id')
      .select(['m.group_id', 'u.id', 'u.name as display'])
      .where('m.group_id', '=', anyOf(groups.map(({ id }) => id)))
      .orderBy('u.id'),
  );
  const byGroup = Map.groupBy(rows, (row) => row.group_id);
  return groups.map((group) => ({ ...group, members: byGroup.get(group.id) ?? [] }));
}

/** Groups, oldest first, and their total number. A page has fewer groups if they have very many members. */
export async function listGroups(
  { db: { system } }: Provisioning,
  filter: GroupFilter,
  { offset, limit }: Part,
  { members }: { members: boolean },
): Promise<{ total: number; rows: GroupRow[] }> {
  const { query } = system;
  const [count] = await query((all) =>
    all
      .selectFrom('user_groups')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where((eb) => eb.and(matching(eb, filter))),
  );
  const found = await query((all) =>
    all
      .selectFrom('user_groups')
      .selectAll()
      .select((eb) =>
        eb
          .selectFrom('user_group_members as m')
          .select((of) => of.fn.countAll<number>().as('size'))
          .whereRef('m.group_id', '=', 'user_groups.id')
          .as('size'),
      )
      .where((eb) => eb.and(matching(eb, filter)))
      .orderBy('id')
      .offset(offset)
      .limit(limit),
  );
  const total = count?.total ?? 0;
  if (!members) return { total, rows: found.map((group) => ({ ...group, members: undefined })) };
  let sum = 0;
  const fitting = found.filter(({ size }, index) => {
    sum += size ?? 0;
    return index === 0 || sum <= MAX_PAGE_MEMBERS;
  });
  return { total, rows: await withMembers(query, fitting) };
}

/** @throws ScimError 404 */
export async function getGroup(
  { db: { system } }: Provisioning,
  id: string,
  { members }: { members: boolean },
): Promise<GroupRow> {
  const [group] = await system.query((all) =>
    all.selectFrom('user_groups').selectAll().where('id', '=', uuidOf('userGroup', id)),
  );
  if (group === undefined) throw notThere('Group', id);
  const [row] = members ? await withMembers(system.query, [group]) : [{ ...group, members: undefined }];
  return row ?? { ...group, members: [] };
}

async function memberIds(query: Query, groupId: string): Promise<string[]> {
  const rows = await query((all) =>
    all.selectFrom('user_group_members').select('user_id').where('group_id', '=', groupId),
  );
  return rows.map(({ user_id }) => user_id);
}

/** @throws ScimError 400 if an id is invalid */
function uuidsOf(ids: ReadonlySet<string>): Set<string> {
  const uuids = [...ids].map((id) => {
    const uuid = parsePublicId('user', id);
    if (uuid === undefined)
      throw invalidValue(`There is no User ${id.slice(0, 100)}: members are users, by the ids that they have here.`);
    return uuid;
  });
  return new Set(uuids);
}

/**
 * Changes who is in a group, and with it the memberships of added and removed people; of all of them if its name changes, because
 * roles depend on it.
 * @param query in a transaction that has locked the group's row
 */
async function setMembers(
  query: Query,
  { issuer, ofGroup }: Provisioning,
  groupId: string,
  { only, add, remove }: NonNullable<GroupChange['members']>,
  { isRenamed }: { isRenamed: boolean },
): Promise<void> {
  const wanted = uuidsOf(add);
  // An unknown user can't be a member.
  const unwanted = new Set([...remove].map((id) => parsePublicId('user', id)));
  const before = new Set(await memberIds(query, groupId));
  const coming = [...wanted].filter((id) => !before.has(id));
  const going = [...before].filter((id) => (only ? !wanted.has(id) : unwanted.has(id)));
  if (before.size + coming.length - going.length > MAX_GROUP_MEMBERS)
    throw invalidValue(`A group has at most ${MAX_GROUP_MEMBERS} members.`);
  const users = await lockUsers(query, [...new Set([...coming, ...going, ...(isRenamed ? before : [])])]);
  const known = new Set(users.filter((user) => isKnown(user, issuer)).map(({ id }) => id));
  const missing = coming.find((id) => !known.has(id));
  if (missing !== undefined) throw invalidValue(`There is no User ${publicId('user', missing)}.`);
  if (going.length > 0)
    await query((all) =>
      all.deleteFrom('user_group_members').where('group_id', '=', groupId).where('user_id', '=', anyOf(going)),
    );
  if (coming.length > 0)
    await query((all) =>
      all
        .insertInto('user_group_members')
        .columns(['group_id', 'user_id'])
        .expression(
          all
            .selectFrom(unnestOf('given', { user_id: ['uuid', coming] }))
            .select([sql<string>`${groupId}::uuid`.as('group_id'), 'given.user_id']),
        ),
    );
  await syncMembersOf(query, users, ofGroup);
}

const NONE = { only: false, add: new Set<string>(), remove: new Set<string>() };

/** Refuses an `externalId` that another group has. @throws ScimError 409 */
async function refuseTaken(query: Query, id: string, externalId: string | null | undefined): Promise<void> {
  if (externalId === undefined || externalId === null) return;
  await lockExternalId(query, externalId);
  const [other] = await query((all) =>
    all.selectFrom('user_groups').select('id').where('external_id', '=', externalId).where('id', '<>', id).limit(1),
  );
  if (other !== undefined) throw taken(GROUP_TAKEN);
}

/** @throws ScimError 400, 409 */
export async function createGroup(
  provisioning: Provisioning,
  { displayName, externalId, members = NONE }: GroupChange & { displayName: string },
): Promise<string> {
  const id = newId();
  await inOne(provisioning, GROUP_TAKEN, async (query) => {
    await refuseTaken(query, id, externalId);
    await query((all) =>
      all.insertInto('user_groups').values({
        id,
        display_name: displayName,
        external_id: externalId ?? null,
        created_at: now,
        updated_at: now,
      }),
    );
    await setMembers(query, provisioning, id, members, { isRenamed: false });
  });
  return publicId('userGroup', id);
}

/** @throws ScimError 404 */
async function lockGroup(query: Query, id: string) {
  const [group] = await query((all) =>
    all.selectFrom('user_groups').selectAll().where('id', '=', uuidOf('userGroup', id)).forUpdate(),
  );
  if (group === undefined) throw notThere('Group', id);
  return group;
}

/** @throws ScimError 400, 404, 409 */
export async function changeGroup(provisioning: Provisioning, id: string, change: GroupChange): Promise<void> {
  const { displayName, externalId, members = NONE } = change;
  await inOne(provisioning, GROUP_TAKEN, async (query) => {
    const group = await lockGroup(query, id);
    await refuseTaken(query, group.id, externalId);
    const isRenamed = displayName !== undefined && displayName !== group.display_name;
    await query((all) =>
      all
        .updateTable('user_groups')
        .set({
          display_name: displayName ?? group.display_name,
          external_id: externalId === undefined ? group.external_id : externalId,
          updated_at: now,
        })
        .where('id', '=', group.id),
    );
    await setMembers(query, provisioning, group.id, members, { isRenamed });
  });
}

/** @throws ScimError 404 */
export async function deleteGroup(provisioning: Provisioning, id: string): Promise<void> {
  const { ofGroup } = provisioning;
  await inOne(provisioning, GROUP_TAKEN, async (query) => {
    const group = await lockGroup(query, id);
    const users = await lockUsers(query, await memberIds(query, group.id));
    await query((all) => all.deleteFrom('user_groups').where('id', '=', group.id));
    await syncMembersOf(query, users, ofGroup);
  });
}
