import type { Selectable } from 'kysely';
import { bindWorkspace, type Query } from '../../db/database.ts';
import { now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { type Grant, highestRole, type Role } from '../../domain/roles.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { recordChange } from '../audit/record-change.ts';
import { endAccessOf, forgetKeysOf, type MemberRow } from './members.ts';

export type UserRow = Selectable<Tables['users']>;

/** What groups of the identity provider give, by their names. */
export type GroupGrants = (group: string) => readonly Grant[];

/** What the provider's groups give a person now: by the last sign-in's claims, and by groups that its provisioning tells. */
async function grantsOf(query: Query, user: UserRow, ofGroup: GroupGrants): Promise<Grant[]> {
  if (!user.is_active) return [];
  const groups = await query((all) =>
    all
      .selectFrom('user_group_members as m')
      .innerJoin('user_groups as g', 'g.id', 'm.group_id')
      .select('g.display_name')
      .where('m.user_id', '=', user.id),
  );
  return [...user.grants, ...groups.flatMap(({ display_name }) => ofGroup(display_name))];
}

/** What a person is from now on in one workspace. Null: nothing. */
async function syncMember(
  query: Query,
  user: UserRow,
  before: MemberRow | undefined,
  given: Role | undefined,
): Promise<void> {
  const { name, email } = user;
  const isOut = given === undefined;
  if (before === undefined) {
    if (isOut) return;
    const id = newId();
    await query((own) =>
      own.insertInto('members').values({
        id,
        user_id: user.id,
        name,
        email,
        role: given,
        status: 'active',
        created_at: now,
        updated_at: now,
      }),
    );
    await record(query, 'member.joined', id, { name, role: given });
    return;
  }
  const { id } = before;
  // Whom an admin has suspended stays out, whatever the provider says.
  const kept = before.status === 'suspended' ? 'suspended' : 'active';
  const status = isOut ? 'removed' : kept;
  const roleSet = isOut ? null : before.role_set;
  const role = isOut ? before.role : (roleSet ?? given);
  await query((own) =>
    own
      .updateTable('members')
      .set({ name, email, role, role_set: roleSet, status, updated_at: now })
      .where('id', '=', id),
  );
  if (status === 'removed') {
    if (before.status === 'removed') return;
    await endAccessOf(query, id, { revoke: true });
    await record(query, 'member.removed', id, { name, reason: 'the identity provider gives no role any more' });
  } else if (before.status === 'removed') await record(query, 'member.joined', id, { name, role });
  else if (role !== before.role) {
    await forgetKeysOf(query, id);
    await record(query, 'member.role_changed', id, { role, previous_role: before.role });
  }
}

const record = (query: Query, action: AuditAction, id: string, details: Record<string, JsonValue>) =>
  recordChange(query, action, publicId('member', id), details);

/**
 * Makes a person's memberships what the identity provider gives now, in every workspace: new ones begin, others change or end, and
 * with them keys and sessions.
 * @param query across workspaces, in a transaction that has locked the user's row
 * @returns the memberships that are active, with the names of their workspaces, in the order of these
 */
export async function syncMembers(
  query: Query,
  user: UserRow,
  ofGroup: GroupGrants,
): Promise<(MemberRow & { workspaceName: string })[]> {
  const grants = await grantsOf(query, user, ofGroup);
  const names = [...new Set(grants.map(({ workspace }) => workspace))];
  const [granted, members] = await Promise.all([
    query((all) =>
      all
        .selectFrom('workspaces')
        .select(['id', 'name'])
        .where('name', 'in', names.length > 0 ? names : [''])
        .where('deleted_at', 'is', null),
    ),
    query((all) => all.selectFrom('members').selectAll().where('user_id', '=', user.id)),
  ]);
  const byWorkspace = new Map(members.map((member) => [member.workspace_id, member]));
  const roles = new Map(
    granted.map(({ id, name }) => [
      id,
      highestRole(grants.flatMap(({ workspace, role }) => (workspace === name ? [role] : []))),
    ]),
  );
  for (const id of [...new Set([...roles.keys(), ...byWorkspace.keys()])].sort())
    await syncMember(bindWorkspace(query, id), user, byWorkspace.get(id), roles.get(id));
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
