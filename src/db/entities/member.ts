import { defineEntity, p } from '@mikro-orm/core';
import type { Grant, Role } from '../../domain/roles.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** What an identity provider's provisioning says of a person, as it is given back to it. */
export interface ProvisionedUser {
  externalId?: string;
  displayName?: string;
  name?: { formatted?: string; givenName?: string; familyName?: string };
  emails?: { value: string; type?: string; primary?: boolean }[];
}

/** A person whom an identity provider vouches for: by its issuer and subject, never by an e-mail address alone. */
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
    /** The claim `sub`; where the person was provisioned and has not signed in, the provider's `externalId`. */
    subject: p.text(),
    name: p.text(),
    email: p.text().nullable(),
    /** By which the provider's provisioning (SCIM) knows the person; null: not provisioned. */
    userName: p.text().nullable(),
    /** What the provisioning says of the person beside that. */
    provisioned: p.json<ProvisionedUser>().columnType('jsonb').nullable(),
    /** Whether the provider's provisioning says that the person may come in. */
    isActive: p.boolean().default(true),
    /** By the claims of the last sign-in. */
    grants: p.json<Grant[]>().columnType('jsonb'),
    lastSignInAt: timestamp().nullable(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});

/** A group of the identity provider, which its provisioning tells. Its name is mapped to roles by the settings. */
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

/** A person in a workspace. It stays when the membership ends, since what the person did refers to it. */
export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  indexes: [{ properties: ['workspaceId', 'id'] }, { properties: ['userId'] }],
  uniques: [{ properties: ['workspaceId', 'userId'] }],
  properties: {
    ...workspaceOwned,
    userId: p.uuid(),
    /** As the provider last said. */
    name: p.text(),
    email: p.text().nullable(),
    role: p.text().$type<Role>(),
    /** Set by an admin of the workspace, over what the provider's groups give. */
    roleSet: p.text().$type<Role>().nullable(),
    /** `suspended`: by an admin. `removed`: by an admin, or since the provider gives no role here any more. */
    status: p.text().$type<MemberStatus>(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});
