import { defineEntity, p } from '@mikro-orm/core';
import { ApiKey } from './api-key.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A sign-in to the console, with an identity provider or a key. Only the SHA-256 of the browser's token is stored. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['apiKey', 'id'] },
    // For the clean-up.
    { properties: ['expiresAt'] },
    {
      name: 'sessions_check_at_index',
      expression: `create index "sessions_check_at_index" on "sessions" ("check_at") where "check_at" is not null`,
    },
  ],
  properties: {
    ...workspaceOwned,
    apiKey: () => p.manyToOne(ApiKey).deleteRule('cascade'),
    hash: p.blob().$type<Buffer>().unique(),
    /** The address of the sign-in. */
    address: p.text(),
    userAgent: p.text().nullable(),
    createdAt: timestamp(),
    lastUsedAt: timestamp(),
    /** Extended when it is used, but never beyond the end of its key. */
    expiresAt: timestamp(),
    /** The identity provider's name in the settings; null: signed in with a key. */
    provider: p.text().nullable(),
    /** Tokens from the provider for checks and for signing out, encrypted. */
    providerTokens: p.blob().$type<Buffer>().nullable(),
    /** When to check with the provider again whether the person still has the role; null: never. */
    checkAt: timestamp().nullable(),
    /** Until when the provider's last confirmation is valid, which is also the latest end of the session; null: signed in with a key. */
    validUntil: timestamp().nullable(),
  },
});
