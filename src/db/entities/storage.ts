import { defineEntity, p } from '@mikro-orm/core';
import type { StorageKind } from '../storage-triggers.ts';

/**
 * What a statement has added to the bytes that a workspace stores, or taken away (below 0). Triggers write it (`db/storage-triggers.ts`), so
 * that no statement can leave it out, and none waits for another; it is soon added to the sum, and gone.
 */
export const StorageEntry = defineEntity({
  name: 'StorageEntry',
  tableName: 'storage_entries',
  indexes: [{ properties: ['workspaceId', 'kind'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    workspaceId: p.uuid(),
    kind: p.text().$type<StorageKind>(),
    bytes: p.bigint('number'),
  },
});

/** What a workspace stores, but for the entries that are still there. */
export const StorageSum = defineEntity({
  name: 'StorageSum',
  tableName: 'storage_sums',
  properties: {
    workspaceId: p.uuid().primary(),
    kind: p.text().$type<StorageKind>().primary(),
    bytes: p.bigint('number'),
  },
});
