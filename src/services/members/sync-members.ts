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

/** By issuer and subject, never by e-mail: an address can be given to another person. Locks the row. @param query across workspaces */
export async function findUser(query: Query, issuer: string, subject: string): Promise<UserRow | undefined> {
  const [user] = await query((all) =>
    all.selectFrom('users').selectAll().where('issuer', '=', issuer).where('subject', '=', subject).forUpdate(),
  );
  return user;
}

/** What the groups of a person at the identity provider give, by their names. */
export type GroupGrants = (groups: readonly string[]) => readonly Grant[];

/** What the provider gives people now, by their ids: by the last sign-in's claims, and by groups that its provisioning tells. */
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

/** The role that the provider gives a person in a workspace now; undefined: none. @param query across workspaces */
export async function roleGiven(
  query: Query,
  user: UserRow,
  workspaceName: string,
  ofGroup: GroupGrants,
): Promise<Role | undefined> {
  const grants = (await grantsOf(query, [user], ofGroup)).get(user.id) ?? [];
  return highestRole(grants.flatMap(({ workspace, role }) => (workspace === workspaceName ? [role] : [])));
}

/** What people are from now on in one workspace. `given` undefined: nothing. */
interface Target {
  user: UserRow;
  before: MemberRow | undefined;
  given: Role | undefined;
  /** Whether a membership that has ended may begin again. */
  mayReturn: boolean;
}

type MemberState = Pick<MemberRow, 'id' | 'name' | 'email' | 'role' | 'role_set' | 'status'>;

/** A membership as it is to be; undefined where there is none, and none is to begin. */
function stateOf({ user: { name, email }, before, given, mayReturn }: Target): MemberState | undefined {
  if (before === undefined) return given && { id: newId(), name, email, role: given, role_set: null, status: 'active' };
  const { id, role, role_set } = before;
  // Whom an admin has suspended stays so, whatever the provider says.
  const isSuspended = before.status === 'suspended';
  // What an admin has set is not lost by a time without a role, which the person may have brought about.
  if (given === undefined) return { id, name, email, role, role_set, status: isSuspended ? 'suspended' : 'removed' };
  const isBack = before.status === 'removed';
  if (isBack && !mayReturn) return undefined;
  // Nor is a role regained that the provider does not give.
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

/** Makes memberships of one workspace what they are to be, in a few statements however many there are. */
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
      changeOf(id, { name, reason: 'the identity provider gives no role any more' }),
    ),
  );
}

/**
 * Makes the memberships of people what the identity provider gives now, in every workspace: new ones begin, others change or end, and
 * with them keys and sessions.
 * @param query across workspaces, in a transaction that has locked the users' rows, in the order of their ids
 * @param options.mayReturn whether memberships that have ended may begin again. Default: true
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
  // Locked after the users, as everywhere: admins change members, too.
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
 * The same of one person.
 * @returns the memberships that are active, with the names of their workspaces, in the order of these
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

/** Where a person is a member now. @param query across workspaces */
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
