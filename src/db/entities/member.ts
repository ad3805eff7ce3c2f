import { defineEntity, p } from '@mikro-orm/core';
import type { Grant, Role } from '../../domain/roles.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** The attributes of a person from the identity provider's provisioning, which are returned to it unchanged. */
export interface ProvisionedUser {
  externalId?: string;
  displayName?: string;
  name?: { formatted?: string; givenName?: string; familyName?: string };
  emails?: { value: string; type?: string; primary?: boolean }[];
}

/** A person authenticated by an identity provider: identified by issuer and subject, never only by e-mail address. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  uniques: [{ properties: ['issuer', 'subject'] }],
  indexes: [
    {
      name: 'users_lower_user_name_unique',
      expression: `create unique index "users_lower_user_name_unique" on "users" (lower("user_name")) where "user_name" is not null`,
    },
  ],
  properties: {
    id: p.uuid().primary(),
    issuer: p.text(),
    /** The claim `sub`; for a provisioned person who has not signed in, the provider's `externalId`. */
    subject: p.text(),
    name: p.text(),
    email: p.text().nullable(),
    /** The user name in the provider's provisioning (SCIM); null: not provisioned. */
    userName: p.text().nullable(),
    /** Further provisioned attributes of the person. */
    provisioned: p.json<ProvisionedUser>().columnType('jsonb').nullable(),
    /** Whether the provider's provisioning allows the person to sign in. */
    isActive: p.boolean().default(true),
    /** From the claims of the last sign-in. */
    grants: p.json<Grant[]>().columnType('jsonb'),
    lastSignInAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** A provisioned group of the identity provider. The settings map its name to roles. */
export const UserGroup = defineEntity({
  name: 'UserGroup',
  tableName: 'user_groups',
  properties: {
    id: p.uuid().primary(),
    displayName: p.text().unique(),
    externalId: p.text().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

export const UserGroupMember = defineEntity({
  name: 'UserGroupMember',
  tableName: 'user_group_members',
  indexes: [{ properties: ['user'] }],
  properties: {
    group: () => p.manyToOne(UserGroup).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
  },
});

export const MEMBER_STATUSES = ['active', 'suspended', 'removed'] as const;
export type MemberStatus = (typeof MEMBER_STATUSES)[number];

/** A person in a workspace. The row is kept when the membership ends, because the person's actions refer to it. */
export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  indexes: [{ properties: ['workspaceId', 'id'] }, { properties: ['userId'] }],
  uniques: [{ properties: ['workspaceId', 'userId'] }],
  properties: {
    ...workspaceOwned,
    userId: p.uuid(),
    /** As last reported by the provider. */
    name: p.text(),
    email: p.text().nullable(),
    role: p.text().$type<Role>(),
    /** Set by an admin of the workspace; overrides the role from the provider's groups. */
    roleSet: p.text().$type<Role>().nullable(),
    /** `suspended`: by an admin. `removed`: by an admin, or because the provider no longer grants a role here. */
    status: p.text().$type<MemberStatus>(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});
