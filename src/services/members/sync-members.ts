import { type Selectable, sql } from 'kysely';
import { bindWorkspace, type Query } from '../../db/database.ts';
import { anyOf, arraysOf, now, unnestOf } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { type Grant, highestRole, type Role } from '../../domain/roles.ts';
import { endAccess } from '../access/end-access.ts';
import { type Change, recordChanges } from '../audit/record-change.ts';
import type { MemberRow } from './members.ts';

export type UserRow = Selectable<Tables['users']>;

/**
 * Finds a user by issuer and subject, never by e-mail, because an address can be reassigned to another person. Locks the row.
 * @param query across workspaces
 */
export async function findUser(query: Query, issuer: string, subject: string): Promise<UserRow | undefined> {
  const [user] = await query((all) =>
    all.selectFrom('users').selectAll().where('issuer', '=', issuer).where('subject', '=', subject).forUpdate(),
  );
  return user;
}

/** The grants of a person's groups at the identity provider, by group name. */
export type GroupGrants = (groups: readonly string[]) => readonly Grant[];

/** The current grants of people from the provider, by user id: from the claims of the last sign-in, and from provisioned groups. */
async function grantsOf(query: Query, users: readonly UserRow[], ofGroup: GroupGrants): Promise<Map<string, Grant[]>> {
  const active = users.filter((user) => user.is_active);
  const grants = new Map(active.map((user) => [user.id, [...user.grants]]));
  const groups = await query((all) =>
    all
      .selectFrom('user_group_members as m')
      .innerJoin('user_groups as g', 'g.id', 'm.group_id')
      .select(['m.user_id', 'g.display_name'])
      .where('m.user_id', '=', anyOf(active.map(({ id }) => id))),
  );
  for (const [id, rows] of Map.groupBy(groups, ({ user_id }) => user_id))
    grants.get(id)?.push(...ofGroup(rows.map(({ display_name }) => display_name)));
  return grants;
}

/** The role that the provider currently grants a person in a workspace; undefined if none. @param query across workspaces */
export async function roleGiven(
  query: Query,
  user: UserRow,
  workspaceName: string,
  ofGroup: GroupGrants,
): Promise<Role | undefined> {
  const grants = (await grantsOf(query, [user], ofGroup)).get(user.id) ?? [];
  return highestRole(grants.flatMap(({ workspace, role }) => (workspace === workspaceName ? [role] : [])));
}

/** The intended state of a person in one workspace. `given` undefined: no role. */
interface Target {
  user: UserRow;
  before: MemberRow | undefined;
  given: Role | undefined;
  /** Whether an ended membership can restart. */
  mayReturn: boolean;
}

type MemberState = Pick<MemberRow, 'id' | 'name' | 'email' | 'role' | 'role_set' | 'status'>;

/** The intended state of a membership; undefined if there is none and none should be created. */
function stateOf({ user: { name, email }, before, given, mayReturn }: Target): MemberState | undefined {
  if (before === undefined) return given && { id: newId(), name, email, role: given, role_set: null, status: 'active' };
  const { id, role, role_set } = before;
  // A member suspended by an admin stays suspended, whatever the provider says.
  const isSuspended = before.status === 'suspended';
  // A role set by an admin survives a time without a granted role, which the person may have caused.
  if (given === undefined) return { id, name, email, role, role_set, status: isSuspended ? 'suspended' : 'removed' };
  const isBack = before.status === 'removed';
  if (isBack && !mayReturn) return undefined;
  // But a returning member does not regain a set role above the one that the provider grants.
  const kept = isBack && role_set !== null && highestRole([role_set, given]) !== given ? null : role_set;
  return { id, name, email, role: kept ?? given, role_set: kept, status: isSuspended ? 'suspended' : 'active' };
}

const DIFFERING = ['name', 'email', 'role', 'role_set', 'status'] as const;

async function insertMembers(query: Query, members: readonly (MemberState & { user_id: string })[]): Promise<void> {
  if (members.length === 0) return;
  const all = arraysOf(members);
  await query((own) =>
    own
      .insertInto('members')
      .columns(['id', 'user_id', 'name', 'email', 'role', 'status', 'created_at', 'updated_at'])
      .expression(
        own
          .selectFrom(
            unnestOf('given', {
              id: ['uuid', all.id],
              user_id: ['uuid', all.user_id],
              name: ['text', all.name],
              email: ['text', all.email],
              role: ['text', all.role],
            }),
          )
          .select(['given.id', 'given.user_id', 'given.name', 'given.email', 'given.role'])
          .select([sql`'active'`.as('status'), now.as('created_at'), now.as('updated_at')]),
      ),
  );
}

async function updateMembers(query: Query, members: readonly MemberState[]): Promise<void> {
  if (members.length === 0) return;
  const all = arraysOf(members);
  await query((own) =>
    own
      .updateTable('members as m')
      .from(
        unnestOf('given', {
          id: ['uuid', all.id],
          name: ['text', all.name],
          email: ['text', all.email],
          role: ['text', all.role],
          role_set: ['text', all.role_set],
          status: ['text', all.status],
        }),
      )
      .set({
        name: sql.ref('given.name'),
        email: sql.ref('given.email'),
        role: sql.ref('given.role'),
        role_set: sql.ref('given.role_set'),
        status: sql.ref('given.status'),
        updated_at: now,
      })
      .whereRef('m.id', '=', 'given.id'),
  );
}

const changeOf = (id: string, details: Change['details']): Change => ({ resourceId: publicId('member', id), details });

/** Brings memberships of one workspace to their intended state, in a few statements however many there are. */
async function syncWorkspace(query: Query, targets: readonly Target[]): Promise<void> {
  const joined: (MemberState & { user_id: string })[] = [];
  const changed: { before: MemberRow; after: MemberState }[] = [];
  for (const target of targets) {
    const { user, before } = target;
    const after = stateOf(target);
    if (after === undefined) continue;
    if (before === undefined) joined.push({ ...after, user_id: user.id });
    else if (DIFFERING.some((column) => before[column] !== after[column])) changed.push({ before, after });
  }
  await insertMembers(query, joined);
  await updateMembers(
    query,
    changed.map(({ after }) => after),
  );
  const began = changed.filter(({ before, after }) => before.status === 'removed' && after.status !== 'removed');
  const ended = changed.filter(({ before, after }) => before.status !== 'removed' && after.status === 'removed');
  const moved = changed.filter(({ before, after }) => before.status !== 'removed' && before.role !== after.role);
  const idsOf = (members: typeof changed) => ({ members: members.map(({ after }) => after.id) });
  await endAccess(query, idsOf(ended), 'keys');
  await endAccess(query, idsOf(moved), 'nothing');
  await recordChanges(
    query,
    'member.joined',
    [...joined, ...began.map(({ after }) => after)].map(({ id, name, role }) => changeOf(id, { name, role })),
  );
  await recordChanges(
    query,
    'member.role_changed',
    moved.map(({ before, after }) => changeOf(after.id, { role: after.role, previous_role: before.role })),
  );
  await recordChanges(
    query,
    'member.removed',
    ended.map(({ after: { id, name } }) =>
      changeOf(id, { name, reason: 'the identity provider no longer assigns a role' }),
    ),
  );
}

/**
 * Brings the memberships of people in line with the identity provider's current grants, in every workspace: creates new ones and
 * changes or ends others, including their keys and sessions.
 * @param query across workspaces, in a transaction that has locked the users' rows, in the order of their ids
 * @param options.mayReturn whether ended memberships can restart. Default: true
 */
export async function syncMembersOf(
  query: Query,
  users: readonly UserRow[],
  ofGroup: GroupGrants,
  { mayReturn = true }: { mayReturn?: boolean } = {},
): Promise<void> {
  if (users.length === 0) return;
  const grants = await grantsOf(query, users, ofGroup);
  const names = [...new Set([...grants.values()].flat().map(({ workspace }) => workspace))];
  const granted = await query((all) =>
    all
      .selectFrom('workspaces')
      .select(['id', 'name'])
      .where('name', '=', sql<string>`any(${names}::text[])`)
      .where('deleted_at', 'is', null),
  );
  // Locked after the users, as everywhere, because admins change members, too.
  const members = await query((all) =>
    all
      .selectFrom('members')
      .selectAll()
      .where('user_id', '=', anyOf(users.map(({ id }) => id)))
      .orderBy('id')
      .forUpdate(),
  );
  const befores = Map.groupBy(members, (member) => member.workspace_id);
  const nameOf = new Map(granted.map(({ id, name }) => [id, name]));
  for (const id of [...new Set([...nameOf.keys(), ...befores.keys()])].sort()) {
    const byUser = new Map(befores.get(id)?.map((member) => [member.user_id, member]));
    const targets = users.map((user): Target => {
      const roles = (grants.get(user.id) ?? []).flatMap(({ workspace, role }) =>
        workspace === nameOf.get(id) ? [role] : [],
      );
      return { user, before: byUser.get(user.id), given: highestRole(roles), mayReturn };
    });
    await syncWorkspace(bindWorkspace(query, id), targets);
  }
}

/**
 * Like `syncMembersOf`, for one person.
 * @returns the active memberships, with the names of their workspaces, in the order of the names
 */
export async function syncMembers(
  query: Query,
  user: UserRow,
  ofGroup: GroupGrants,
  options: { mayReturn?: boolean } = {},
): Promise<(MemberRow & { workspaceName: string })[]> {
  await syncMembersOf(query, [user], ofGroup, options);
  return activeMembers(query, user.id);
}

/** The active memberships of a person. @param query across workspaces */
export async function activeMembers(query: Query, userId: string): Promise<(MemberRow & { workspaceName: string })[]> {
  return query((all) =>
    all
      .selectFrom('members as m')
      .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
      .selectAll('m')
      .select('w.name as workspaceName')
      .where('m.user_id', '=', userId)
      .where('m.status', '=', 'active')
      .where('w.deleted_at', 'is', null)
      .orderBy('w.name'),
  );
}
