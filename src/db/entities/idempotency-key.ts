import { defineEntity, p } from '@mikro-orm/core';
import { idempotencyKeyStorageTriggers } from '../storage-triggers.ts';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/**
 * An `Idempotency-Key` that created something. The row is written in the transaction that creates it, so that two concurrent requests
 * can't both create it. `answer` is the first response, encrypted because it may contain a secret; null until it was sent.
 */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  triggers: idempotencyKeyStorageTriggers,
  indexes: [{ properties: ['createdAt'] }, { properties: ['resourceId'] }],
  uniques: [{ properties: ['workspaceId', 'key'] }],
  properties: {
    ...workspaceOwned,
    key: p.text(),
    /** SHA-256 of method, path and body. */
    requestHash: p.blob().$type<Buffer>(),
    /** Id of the created resource. */
    resourceId: p.text(),
    answer: p.blob().$type<Buffer>().nullable(),
    createdAt: timestamp(),
  },
});
