import { defineEntity, p } from '@mikro-orm/core';
import { timestamp } from './workspace-owned.ts';

/** Owns everything else. `ownerEmail` is notified when something needs attention. */
export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: {
    id: p.uuid().primary(),
    name: p.text().unique(),
    ownerEmail: p.text(),
    createdAt: timestamp(),
    /** When it was deleted: its keys are refused, and its rows are being removed. */
    deletedAt: timestamp().nullable(),
  },
});
