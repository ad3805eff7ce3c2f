import { p } from '@mikro-orm/core';

/** Columns of everything that a workspace owns. Statements are bound by `workspaceId` (`db/workspace-binder.ts`). */
export const workspaceOwned = {
  id: p.uuid().primary(),
  workspaceId: p.uuid(),
};

/** A point in time with milliseconds, as in the API. */
export const timestamp = () => p.datetime().columnType('timestamptz(3)');
