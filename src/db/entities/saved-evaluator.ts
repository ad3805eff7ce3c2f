import { defineEntity, p } from '@mikro-orm/core';
import { timestamp, workspaceOwned } from './workspace-owned.ts';

/** An evaluator with a name, and all its versions. */
export const SavedEvaluator = defineEntity({
  name: 'SavedEvaluator',
  tableName: 'saved_evaluators',
  uniques: [{ properties: ['workspaceId', 'name'] }],
  properties: {
    ...workspaceOwned,
    name: p.text(),
    description: p.text().nullable(),
    /** Every version, oldest first: its evaluator, and when it was stored. 512 KiB at most. */
    versions: p.json<object[]>().columnType('jsonb'),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
});
