import { defineEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../domain/scopes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * `service`: belongs to the workspace. `personal`: belongs to a member. `sign_in`: the key behind the sessions of a member, whose
 * text is unknown. `emergency`: created by an operator; signs in at the console when other keys cannot.
 */
export const API_KEY_KINDS = ['service', 'personal', 'sign_in', 'emergency'] as const;
export type ApiKeyKind = (typeof API_KEY_KINDS)[number];

/** A key of the API. Only its SHA-256 is stored. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    {
      name: 'api_keys_member_id_index',
      expression: `create index "api_keys_member_id_index" on "api_keys" ("member_id") where "member_id" is not null`,
    },
    {
      name: 'api_keys_made_from_index',
      expression: `create index "api_keys_made_from_index" on "api_keys" ("made_from") where "made_from" is not null`,
    },
    {
      name: 'api_keys_sign_in_unique',
      expression: `create unique index "api_keys_sign_in_unique" on "api_keys" ("member_id") where "kind" = 'sign_in' and "revoked_at" is null`,
    },
  ],
  properties: {
    ...workspaceOwned,
    kind: p.text().$type<ApiKeyKind>().default('service'),
    /** The owner: the key's permissions are limited by the member's role, and it ends with the membership. */
    memberId: p.uuid().nullable(),
    /** The member who created a service key. */
    madeBy: p.uuid().nullable(),
    /** The key whose session approved this one for a program: it ends with that key. */
    madeFrom: p.uuid().nullable(),
    name: p.text(),
    hash: p.blob().$type<Buffer>().unique(),
    scopes: p.array().$type<Scope[]>(),
    expiresAt: timestamp().nullable(),
    revokedAt: timestamp().nullable(),
    lastUsedAt: timestamp().nullable(),
    createdAt: timestamp(),
  },
});
