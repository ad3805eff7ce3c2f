import type { Selectable } from 'kysely';
import { bindWorkspace, type Query, type SystemDatabase } from '../../db/database.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { now } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import type { AuditAction } from '../../domain/audit.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId, publicId } from '../../domain/ids.ts';
import { recordChange } from '../audit/record-change.ts';

export const WORKSPACE_COLUMNS = ['id', 'name', 'owner_email', 'created_at'] as const;
export type WorkspaceRow = Pick<Selectable<Tables['workspaces']>, (typeof WORKSPACE_COLUMNS)[number]>;

const recordOf = (query: Query, { id, name, owner_email }: WorkspaceRow, action: AuditAction): Promise<void> =>
  recordChange(bindWorkspace(query, id), action, publicId('workspace', id), { name, owner_email });

/**
 * Creates a workspace.
 * @throws ApiError `invalid_request` if the name is taken
 */
export async function createWorkspace(db: SystemDatabase, name: string, ownerEmail: string): Promise<WorkspaceRow> {
  try {
    return await db.transaction(async (query) => {
      const [row] = await query((all) =>
        all
          .insertInto('workspaces')
          .values({ id: newId(), name, owner_email: ownerEmail, created_at: now })
          .returning(WORKSPACE_COLUMNS),
      );
      if (row === undefined) throw new Error('The new workspace was not returned.');
      await recordOf(query, row, 'workspace.created');
      return row;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('invalid_request', `There is a workspace "${name}" already. Choose another name.`);
  }
}

/** Every workspace, by name. */
export function listWorkspaces(db: SystemDatabase): Promise<WorkspaceRow[]> {
  return db.query((all) =>
    all.selectFrom('workspaces').select(WORKSPACE_COLUMNS).where('deleted_at', 'is', null).orderBy('name'),
  );
}

/** @throws ApiError `not_found` */
export async function getWorkspace(db: SystemDatabase, name: string): Promise<WorkspaceRow> {
  const [row] = await db.query((all) =>
    all.selectFrom('workspaces').select(WORKSPACE_COLUMNS).where('name', '=', name),
  );
  if (row === undefined) throw unknownWorkspace(name);
  return row;
}

/**
 * Sets another owner.
 * @throws ApiError `not_found`
 */
export async function setWorkspaceOwner(db: SystemDatabase, name: string, ownerEmail: string): Promise<WorkspaceRow> {
  return db.transaction(async (query) => {
    const [row] = await query((all) =>
      all
        .updateTable('workspaces')
        .set({ owner_email: ownerEmail })
        .where('name', '=', name)
        .returning(WORKSPACE_COLUMNS),
    );
    if (row === undefined) throw unknownWorkspace(name);
    await recordOf(query, row, 'workspace.owner_changed');
    return row;
  });
}

/** 404 `not_found` */
export function unknownWorkspace(name: string): ApiError {
  return new ApiError('not_found', `There is no workspace "${name}".`);
}
