import { defineEntity, p } from '@mikro-orm/core';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A label that only keys with the scope `publish` can move or remove, on any prompt. */
export const ProtectedLabel = defineEntity({
  name: 'ProtectedLabel',
  tableName: 'protected_labels',
  uniques: [{ properties: ['workspaceId', 'label'] }],
  properties: {
    ...workspaceOwned,
    label: p.text(),
    createdAt: timestamp(),
  },
});
