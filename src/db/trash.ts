import { sql } from 'kysely';

/**
 * Rows whose deletion takes long are moved here: no workspace has this id, so they are hidden immediately. `sweep` deletes them
 * later in small steps.
 */
export const TRASH_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/** Statements may set the column only to the trash, and only statements of `system`: `.set(OWNER, TRASH_WORKSPACE)`. */
export const OWNER = sql.ref<string>('workspace_id');
