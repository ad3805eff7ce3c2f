import { p } from '@mikro-orm/core';

/** Properties of everything that a workspace owns. Statements are bound by `workspaceId` (`db/workspace-binder.ts`). */
export const workspaceOwned = {
  id: p.uuid().primary(),
  workspaceId: p.uuid(),
};

/** A point in time with milliseconds, as the API shows it. */
export const timestamp = () => p.datetime().columnType('timestamptz(3)');
