import { defineEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../domain/scopes.ts';
import { timestamp } from './workspace-owned.ts';

/**
 * A program that asks for a key, until it has fetched it: `pms login`. It is of no workspace, since nobody knows yet who will approve it; whoever does
 * is known by the session, which tells the workspace. Of both codes only the SHA-256 is stored, and of the key nothing: it is made when it is fetched.
 */
export const DeviceAuthorization = defineEntity({
  name: 'DeviceAuthorization',
  tableName: 'device_authorizations',
  indexes: [
    // For the clean-up.
    { properties: ['expiresAt'] },
    { properties: ['caller'] },
  ],
  properties: {
    id: p.uuid().primary(),
    deviceCodeHash: p.blob().$type<Buffer>().unique(),
    userCodeHash: p.blob().$type<Buffer>().unique(),
    /** What the program says it is. */
    client: p.text(),
    address: p.text(),
    /** Who is counted for the address (`addressGroup`). */
    caller: p.text(),
    /** Seconds that the program is to leave between two polls. */
    pollSeconds: p.integer(),
    polledAt: timestamp().nullable(),
    decision: p.text().$type<'approved' | 'denied'>().nullable(),
    /** Of whoever has decided. */
    sessionId: p.uuid().nullable(),
    /** Of the key to make. */
    scopes: p.array().$type<Scope[]>().nullable(),
    keyExpiresAt: timestamp().nullable(),
    createdAt: timestamp(),
    expiresAt: timestamp(),
  },
});
