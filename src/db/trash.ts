/**
 * Where evaluations are moved when they are deleted: no workspace has this id, so that no query of a workspace sees them from then
 * on. Their rows are deleted in small steps later.
 */
export const TRASH_WORKSPACE = '00000000-0000-0000-0000-000000000000';
