import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { idParams } from '../../http/fields.ts';
import { decodeCursor, toPage } from '../../http/pagination.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { SCOPES } from '../../services/access/api-keys.ts';
import type { Authenticator } from '../../services/access/authenticate.ts';
import { ownMemberOf } from '../../services/access/personal-keys.ts';
import { changeMember, removeMember } from '../../services/members/control-member.ts';
import { getMember, listMembers, type ShownMember } from '../../services/members/list-members.ts';
import { activeMembers, type GroupGrants } from '../../services/members/sync-members.ts';
import { memberSample } from './samples.ts';
import { ListMembers, Me, Member, MemberPage, UpdateMember } from './schema.ts';

const tag = 'Members';

const present = (row: ShownMember): z.input<typeof Member> => ({
  id: publicId('member', row.id),
  name: row.name,
  email: row.email,
  role: row.role,
  role_set: row.role_set,
  status: row.status,
  last_seen_at: row.last_seen_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** `/members`, and `/me` for the caller. */
export function memberRoutes(deps: { db: Database; ofGroup: GroupGrants; authenticator: Authenticator }): Route[] {
  const changed = (row: ShownMember) => {
    deps.authenticator.forgetMember(row.id);
    return present(row);
  };
  return [
    defineRoute({
      method: 'get',
      path: '/members',
      operationId: 'listMembers',
      tag,
      summary: 'List members, newest first',
      description: 'Includes removed members, because records of their actions refer to them.',
      scope: 'read',
      query: ListMembers,
      response: MemberPage,
      responseExample: { data: [memberSample], next_cursor: null },
      async handler({ db, query: { limit, cursor, ...filter } }) {
        const page = await listMembers(db.query, filter, limit, decodeCursor(cursor, z.uuid()));
        return toPage(page, present, ({ id }) => id);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/members/{id}',
      operationId: 'getMember',
      tag,
      summary: 'Retrieve a member',
      scope: 'read',
      params: idParams('member'),
      response: Member,
      responseExample: memberSample,
      errors: ['not_found'],
      handler: async ({ db, params }) => present(await getMember(db.query, params.id)),
    }),
    defineRoute({
      method: 'patch',
      path: '/members/{id}',
      operationId: 'updateMember',
      audit: ['member.role_changed', 'member.suspended', 'member.reinstated'],
      tag,
      summary: 'Change the role of a member, or suspend or reinstate a member',
      description:
        'Takes effect immediately in every process, for sessions and personal keys. Suspending a member ends their sessions; their personal keys work again when the suspension ends.',
      scope: 'admin',
      params: idParams('member'),
      body: UpdateMember,
      bodyExamples: {
        'Set a role': { role: 'publisher' },
        'Use the role of the identity provider': { role: null },
        Suspend: { status: 'suspended' },
      },
      response: Member,
      responseExample: { ...memberSample, role: 'publisher', role_set: 'publisher' },
      errors: ['not_found', 'invalid_state'],
      handler: async ({ key, params, body }) => changed(await changeMember(deps, { ...key, id: params.id }, body)),
    }),
    defineRoute({
      method: 'delete',
      path: '/members/{id}',
      operationId: 'removeMember',
      audit: ['member.removed'],
      tag,
      summary: 'Remove a member immediately',
      description:
        'Ends sessions and revokes personal keys. If the identity provider still assigns a role here, the person becomes a member again at the next sign-in or provisioning: to keep someone out, suspend them.',
      scope: 'admin',
      params: idParams('member'),
      response: Member,
      responseExample: { ...memberSample, status: 'removed' },
      errors: ['not_found', 'invalid_state'],
      handler: async ({ key, params }) => changed(await removeMember(deps, { ...key, id: params.id })),
    }),
    defineRoute({
      method: 'get',
      path: '/me',
      operationId: 'getMe',
      tag,
      summary: 'Retrieve the caller and its permissions',
      description: 'Works with any key.',
      scope: SCOPES,
      response: Me,
      responseExample: {
        key: { id: 'key_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11', name: 'Ada Lovelace', kind: 'sign_in' },
        scopes: ['read', 'execute', 'score', 'write'],
        member: memberSample,
        role: 'editor',
        workspace: { name: 'default' },
        workspaces: [{ name: 'default', member_id: memberSample.id, role: 'editor' }],
      },
      async handler({ db, key }) {
        const id = ownMemberOf(key);
        const member = id === undefined ? undefined : await getMember(db.query, id);
        const all = member === undefined ? [] : await activeMembers(deps.db.system.query, member.user_id);
        return {
          key: { id: publicId('apiKey', key.id), name: key.name, kind: key.kind },
          scopes: key.scopes,
          member: member === undefined ? null : present(member),
          role: member?.role ?? null,
          workspace: { name: key.workspaceName },
          workspaces: all.map(({ workspaceName, id: memberId, role }) => ({
            name: workspaceName,
            member_id: publicId('member', memberId),
            role,
          })),
        };
      },
    }),
  ];
}
