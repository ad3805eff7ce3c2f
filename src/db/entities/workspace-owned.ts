import { p } from '@mikro-orm/core';

/** Name of the filter that binds every query of an EntityManager to one workspace. */
export const WORKSPACE_FILTER = 'workspace';

/** What a query may see. Set once, where the EntityManager is made (`db/database.ts`). */
export type WorkspaceScope = { everyWorkspace: true } | { everyWorkspace: false; workspaceId: string };

/**
 * Properties of everything that a workspace owns.
 * Together with {@link ownedByWorkspace} a query without a workspace fails instead of crossing workspaces.
 */
export const workspaceOwned = {
  id: p.uuid().primary(),
  workspaceId: p.uuid(),
};

/** Filters of every entity that a workspace owns: on by default, and an error where no workspace is set. */
export const ownedByWorkspace = {
  [WORKSPACE_FILTER]: {
    name: WORKSPACE_FILTER,
    cond: (scope: WorkspaceScope) => (scope.everyWorkspace ? {} : { workspaceId: scope.workspaceId }),
    default: true,
  },
};

/** A point in time with milliseconds, as the API shows it. */
export const timestamp = () => p.datetime().columnType('timestamptz(3)');
