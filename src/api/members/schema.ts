import { z } from 'zod';
import { API_KEY_KINDS } from '../../db/entities/api-key.ts';
import { MEMBER_STATUSES } from '../../db/entities/member.ts';
import { ROLES } from '../../domain/roles.ts';
import { storableString, Timestamp } from '../../http/fields.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { GrantedScope } from '../api-keys/schema.ts';

const Role = z.enum(ROLES, `must be one of ${ROLES.join(', ')}`);

export const ListMembers = z.strictObject({
  ...PageQuery,
  search: storableString()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Only members whose name or e-mail address contains this text (case-insensitive).' }),
  status: z.enum(MEMBER_STATUSES, `must be one of ${MEMBER_STATUSES.join(', ')}`).optional(),
});

export const Member = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: 'As last reported by the identity provider.' }),
    email: z.string().nullable(),
    role: Role.meta({
      description:
        'The permissions of the member: `viewer` (read), `runner` (plus execute and score), `editor` (plus write), `publisher` (plus publish), `admin` (everything).',
    }),
    role_set: Role.nullable().meta({
      description: 'The role set by an admin. Null if the role follows the identity provider.',
    }),
    status: z.enum(MEMBER_STATUSES).meta({
      description:
        '`suspended`: by an admin, until an admin reinstates the member. `removed`: by an admin, or because the identity provider no longer assigns a role here.',
    }),
    last_seen_at: Timestamp.nullable().meta({
      description: 'The last use of a session or personal key, to the minute.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Member' });

export const MemberPage = pageOf(Member).meta({ id: 'MemberPage' });

export const UpdateMember = z
  .strictObject({
    role: Role.nullable().optional().meta({ description: 'Null restores the role of the identity provider.' }),
    status: z.enum(['active', 'suspended'], 'must be active or suspended').optional(),
  })
  .refine(({ role, status }) => role !== undefined || status !== undefined, 'must have a role or a status')
  .meta({ id: 'UpdateMember' });

export const Me = z
  .object({
    key: z.object({ id: z.string(), name: z.string(), kind: z.enum(API_KEY_KINDS) }).meta({
      description: 'The key of the request. For a session, the key that the session belongs to.',
    }),
    scopes: z.array(GrantedScope).meta({ description: 'The scopes of this request, limited by the member’s role.' }),
    member: Member.nullable().meta({
      description: 'The member who owns the key or session; null for a key of the workspace.',
    }),
    role: Role.nullable(),
    workspace: z.object({ name: z.string() }),
    workspaces: z.array(z.object({ name: z.string(), member_id: z.string(), role: Role })).meta({
      description: 'Every workspace in which the same person is an active member. Empty for a key of the workspace.',
    }),
  })
  .meta({ id: 'Me' });
