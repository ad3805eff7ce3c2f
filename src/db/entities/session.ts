import { defineEntity, p } from '@mikro-orm/core';
import { ApiKey } from './api-key.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A sign-in to the console with a key. Only the SHA-256 of what the browser keeps is stored. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['apiKey', 'id'] },
    // For the clean-up.
    { properties: ['expiresAt'] },
  ],
  properties: {
    ...workspaceOwned,
    apiKey: () => p.manyToOne(ApiKey).deleteRule('cascade'),
    hash: p.blob().$type<Buffer>().unique(),
    /** Of the sign-in. */
    address: p.text(),
    userAgent: p.text().nullable(),
    createdAt: timestamp(),
    lastUsedAt: timestamp(),
    /** Moves on with its use, but never beyond the end of its key. */
    expiresAt: timestamp(),
  },
});
