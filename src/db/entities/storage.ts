import { defineEntity, p } from '@mikro-orm/core';
import type { StorageKind } from '../storage-triggers.ts';

/**
 * The bytes that a statement added to the storage of a workspace, or removed (negative). Written by triggers
 * (`db/storage-triggers.ts`), so that no statement can omit it or wait for another; soon added to the sum and deleted.
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

/** The storage of a workspace, except for remaining entries. */
export const StorageSum = defineEntity({
  name: 'StorageSum',
  tableName: 'storage_sums',
  properties: {
    workspaceId: p.uuid().primary(),
    kind: p.text().$type<StorageKind>().primary(),
    bytes: p.bigint('number'),
  },
});
