import { sql } from 'kysely';

/**
 * Where rows are moved whose deletion takes long: no workspace has this id, so they are out of sight at once. They are deleted in
 * small steps later (`sweep`).
 */
export const TRASH_WORKSPACE = '00000000-0000-0000-0000-000000000000';

/** Statements may set the column to the trash only, and only those of `system`: `.set(OWNER, TRASH_WORKSPACE)`. */
export const OWNER = sql.ref<string>('workspace_id');
