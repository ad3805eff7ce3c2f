import { bindWorkspace, type Database, type Query } from '../../db/database.ts';
import type { MemberStatus } from '../../db/entities/member.ts';
import { lockInWorkspace } from '../../db/lock.ts';
import { now } from '../../db/sql.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { ApiError, notFound } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import type { Role } from '../../domain/roles.ts';
import type { JsonValue } from '../../domain/text/json.ts';
import { endAccess } from '../access/end-access.ts';
import { recordChange } from '../audit/record-change.ts';
import { getMember, type ShownMember } from './list-members.ts';
import type { MemberRow } from './members.ts';
import { type GroupGrants, roleGiven, type UserRow } from './sync-members.ts';

interface ControlDeps {
  db: Database;
  ofGroup: GroupGrants;
}

/** What an admin changes about a member. `role` null: use the role from the identity provider again. */
export interface MemberChange {
  role?: Role | null | undefined;
  status?: Extract<MemberStatus, 'active' | 'suspended'> | undefined;
}

interface Locked {
  /** Across workspaces, and of the member's workspace. */
  query: Query;
  own: Query;
  user: UserRow;
  member: MemberRow;
}

/**
 * Changes a member in a transaction that locks the row of the person and then the row of the member, like all other changes of members.
 * @throws ApiError `not_found`, and `invalid_state` if no member would be left who can admit others
 */
async function change(
  { db }: ControlDeps,
  { workspaceId, id }: { workspaceId: string; id: string },
  work: (locked: Locked) => Promise<void>,
): Promise<ShownMember> {
  return db.system.transaction(async (query) => {
    const own = bindWorkspace(query, workspaceId);
    // Serializes two admins who remove each other's role at the same moment.
    await lockInWorkspace(own, 'members');
    const { user_id: userId } = await getMember(own, id);
    const [user] = await query((all) => all.selectFrom('users').selectAll().where('id', '=', userId).forUpdate());
    const [member] = await own((of) => of.selectFrom('members').selectAll().where('id', '=', id).forUpdate());
    if (user === undefined || member === undefined) throw notFound('This member');
    await work({ query, own, user, member });
    if (isAdmin(member)) await requireAdmin(own);
    return getMember(own, id);
  });
}

const isAdmin = ({ role, status }: MemberRow) => role === 'admin' && status === 'active';

/** @throws ApiError `invalid_state` if a workspace has neither an admin nor a key of its own with the scope `admin` */
async function requireAdmin(own: Query): Promise<void> {
  const [admin] = await own((of) =>
    of.selectFrom('members').select('id').where('role', '=', 'admin').where('status', '=', 'active').limit(1),
  );
  const [key] = await own((of) =>
    of
      .selectFrom('api_keys')
      .select('id')
      .where('kind', '=', 'service')
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
      .where((eb) => eb('scopes', '@>', eb.val(['admin'])))
      .limit(1),
  );
  if (admin === undefined && key === undefined)
    throw new ApiError(
      'invalid_state',
      'This member is the last admin of the workspace, and it has no key with the scope "admin". Make another member an admin first, or create such a key.',
    );
}

const record = (own: Query, action: AuditAction, id: string, details: Record<string, JsonValue>) =>
  recordChange(own, action, publicId('member', id), details);

/**
 * Changes the role or the status of a member, effective immediately in every process. A suspended member's sessions end; their
 * keys stop working until the suspension ends.
 * @throws ApiError `not_found`, `invalid_state`
 */
export function changeMember(
  deps: ControlDeps,
  { workspaceId, workspaceName, id }: { workspaceId: string; workspaceName: string; id: string },
  { role: roleSet, status: wanted }: MemberChange,
): Promise<ShownMember> {
  return change(deps, { workspaceId, id }, async ({ query, own, user, member }) => {
    if (member.status === 'removed')
      throw new ApiError('invalid_state', 'This member was removed. A removed member returns by signing in.');
    // A member may have lost the role while suspended.
    const isBack = member.status === 'suspended' && wanted === 'active';
    const isAsked = roleSet === null || isBack;
    const given = isAsked ? await roleGiven(query, user, workspaceName, deps.ofGroup) : undefined;
    if (isAsked && given === undefined)
      throw new ApiError('invalid_state', 'The identity provider currently assigns this member no role here.');
    const override = roleSet === undefined ? member.role_set : roleSet;
    const role = override ?? given ?? member.role;
    const status = wanted ?? member.status;
    await own((of) =>
      of.updateTable('members').set({ role, role_set: override, status, updated_at: now }).where('id', '=', id),
    );
    if (role !== member.role) {
      await endAccess(own, { members: [id] }, 'nothing');
      await record(own, 'member.role_changed', id, { role, previous_role: member.role });
    }
    if (status === member.status) return;
    if (status === 'suspended') await endAccess(own, { members: [id] }, 'sessions');
    await record(own, status === 'suspended' ? 'member.suspended' : 'member.reinstated', id, { name: member.name });
  });
}

/**
 * Removes a member: ends the sessions and revokes the personal keys immediately, in every process. Removing again has no effect.
 * @throws ApiError `not_found`, `invalid_state`
 */
export function removeMember(
  deps: ControlDeps,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ShownMember> {
  return change(deps, { workspaceId, id }, async ({ own, member }) => {
    if (member.status === 'removed') return;
    await own((of) =>
      of.updateTable('members').set({ status: 'removed', role_set: null, updated_at: now }).where('id', '=', id),
    );
    await endAccess(own, { members: [id] }, 'keys');
    await record(own, 'member.removed', id, { name: member.name });
  });
}
