import { defineEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../domain/scopes.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A key of the API. Only its SHA-256 is stored. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    hash: p.blob().$type<Buffer>().unique(),
    scopes: p.array().$type<Scope[]>(),
    expiresAt: timestamp().nullable(),
    revokedAt: timestamp().nullable(),
    lastUsedAt: timestamp().nullable(),
    createdAt: timestamp(),
  },
});
