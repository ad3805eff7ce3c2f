import type { SystemDatabase } from '../../db/database.ts';
import { isUniqueViolation } from '../../db/errors.ts';
import { ApiError } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';

/** A row of `workspaces`. */
export interface WorkspaceRow {
  id: string;
  name: string;
  /** Who is told when something needs a person. */
  owner_email: string;
  created_at: Date;
}

export const WORKSPACE_COLUMNS = 'id, name, owner_email, created_at';

/**
 * Makes a workspace.
 * @throws ApiError `invalid_request` where the name is taken
 */
export async function createWorkspace(db: SystemDatabase, name: string, ownerEmail: string): Promise<WorkspaceRow> {
  try {
    const [row] = await db.query<WorkspaceRow>(
      {
        text: `insert into workspaces (id, name, owner_email, created_at) values ($1, $2, $3, now()) returning ${WORKSPACE_COLUMNS}`,
      },
      [newId(), name, ownerEmail],
    );
    if (row === undefined) throw new Error('The new workspace was not returned.');
    return row;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError('invalid_request', `There is a workspace "${name}" already. Choose another name.`);
  }
}

/** Every workspace, by name. */
export function listWorkspaces(db: SystemDatabase): Promise<WorkspaceRow[]> {
  return db.query<WorkspaceRow>({
    text: `select ${WORKSPACE_COLUMNS} from workspaces where deleted_at is null order by name`,
  });
}

/** @throws ApiError `not_found` */
export async function getWorkspace(db: SystemDatabase, name: string): Promise<WorkspaceRow> {
  const [row] = await db.query<WorkspaceRow>({ text: `select ${WORKSPACE_COLUMNS} from workspaces where name = $1` }, [
    name,
  ]);
  if (row === undefined) throw unknownWorkspace(name);
  return row;
}

/**
 * Names another owner.
 * @throws ApiError `not_found`
 */
export async function setWorkspaceOwner(db: SystemDatabase, name: string, ownerEmail: string): Promise<WorkspaceRow> {
  const [row] = await db.query<WorkspaceRow>(
    { text: `update workspaces set owner_email = $2 where name = $1 returning ${WORKSPACE_COLUMNS}` },
    [name, ownerEmail],
  );
  if (row === undefined) throw unknownWorkspace(name);
  return row;
}

/** 404 `not_found` */
export function unknownWorkspace(name: string): ApiError {
  return new ApiError('not_found', `There is no workspace "${name}".`);
}
