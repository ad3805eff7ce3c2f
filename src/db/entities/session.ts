import { defineEntity, p } from '@mikro-orm/core';
import { ApiKey } from './api-key.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A sign-in to the console, by an identity provider or with a key. Only the SHA-256 of what the browser keeps is stored. */
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
    /** Of the sign-in. */
    address: p.text(),
    userAgent: p.text().nullable(),
    createdAt: timestamp(),
    lastUsedAt: timestamp(),
    /** Moves on with its use, but never beyond the end of its key. */
    expiresAt: timestamp(),
    /** The identity provider's name in the settings; null: signed in with a key. */
    provider: p.text().nullable(),
    /** What the provider has given for checks and for signing out, encrypted. */
    providerTokens: p.blob().$type<Buffer>().nullable(),
    /** When the provider is to be asked again whether the person still has the role; null: never. */
    checkAt: timestamp().nullable(),
    /** Until when what the provider last said is believed; null: signed in with a key. The session ends then at the latest. */
    validUntil: timestamp().nullable(),
  },
});
