import { defineEntity, p } from '@mikro-orm/core';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** A saved view of a list: its filters and columns, under a name. */
export const SavedView = defineEntity({
  name: 'SavedView',
  tableName: 'saved_views',
  uniques: [{ properties: ['workspaceId', 'owner', 'name'] }],
  properties: {
    ...workspaceOwned,
    /** Public id of a member, or of a key of the workspace. */
    owner: p.text(),
    name: p.text(),
    /** The list. */
    page: p.text(),
    /** Parameters of the list, as in its address. */
    query: p.json<Record<string, string>>().columnType('jsonb'),
    columns: p.array().$type<string[]>().columnType('text[]'),
    /** Whether all members of the workspace see it. */
    shared: p.boolean(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});
