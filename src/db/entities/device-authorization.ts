import { defineEntity, p } from '@mikro-orm/core';
import type { Scope } from '../../domain/scopes.ts';
import { timestamp } from './workspace-owned.ts';

/**
 * A program's request for a key (`pms login`), until the program has fetched it. It belongs to no workspace, because it is
 * unknown who will approve it; the approver's session determines the workspace. Only the SHA-256 of both codes is stored, and
 * nothing of the key, which is created when it is fetched.
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
    /** The program, as it identifies itself. */
    client: p.text(),
    address: p.text(),
    /** The network of the address that the request counts for (`addressGroup`). */
    caller: p.text(),
    /** The interval that the program must keep between two polls, in seconds. */
    pollSeconds: p.integer(),
    polledAt: timestamp().nullable(),
    decision: p.text().$type<'approved' | 'denied'>().nullable(),
    /** The session of the person who decided. */
    sessionId: p.uuid().nullable(),
    /** The scopes of the key to create. */
    scopes: p.array().$type<Scope[]>().nullable(),
    keyExpiresAt: timestamp().nullable(),
    createdAt: timestamp(),
    expiresAt: timestamp(),
  },
});
