import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ownedByWorkspace, timestamp, workspaceOwned } from './workspace-owned.ts';

/** A key of the API. Only its SHA-256 is stored. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  filters: ownedByWorkspace,
  indexes: [{ properties: ['workspaceId', 'id'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    hash: p.blob().$type<Buffer>().unique(),
    scopes: p.array(),
    expiresAt: timestamp().nullable(),
    revokedAt: timestamp().nullable(),
    lastUsedAt: timestamp().nullable(),
    createdAt: timestamp(),
  },
});

export type ApiKey = InferEntity<typeof ApiKey>;
