import type { RawBuilder, SqlBool } from 'kysely';
import type { Logger } from 'pino';
import { bindWorkspace, type Database, type Query, type WorkspaceDatabase } from '../db/database.ts';
import { BATCH_ROWS, deleteInBatches, pause, type RowsToDelete } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { ApiError } from '../domain/errors.ts';
import { publicId } from '../domain/ids.ts';
import type { OnExecutionEnd } from '../services/executions/execution-metrics.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { sweep } from './sweep.ts';

/** The dependencies for ending workflows in a workspace. */
export interface RemovalDeps extends WorkflowStarter {
  log: Logger;
  /** Called for each execution that is ended. */
  onExecutionEnd?: OnExecutionEnd | undefined;
}

/** Hides some rows of a workspace; `sweep` deletes them. @returns the number of rows, at most `BATCH_ROWS` */
export type ToTrash = (query: Query, workspaceId: string) => Promise<number>;

/** What the removal of a workspace has to know of a capability. */
export interface Removable {
  /** Ends work in progress. @returns the number of rows ended */
  end?: (deps: RemovalDeps, workspace: WorkspaceDatabase, signal: AbortSignal) => Promise<number>;
  /** Hides rows that own many other rows. */
  toTrash?: readonly ToTrash[];
  /** Its rows in the order of deletion: referring rows come first. Each has an index that starts with the workspace, or few rows. */
  rows?: readonly RowsToDelete[];
}

/** A request that was accepted before the workspace was deleted may still write: the last check is after it has ended. */
const LINGER_MS = 60 * 60_000;
/** The number of workflows ended at a time. */
const AT_ONCE = 20;
/** Their rows may have to wait: for a workflow to be notified of its end, or for a batch to be canceled. */
const MAY_LINGER = [
  'deliveries',
  'events',
  'executions',
  'evaluations',
  'releases',
  'improvements',
  'datasets',
] as const;

/**
 * Ends some rows of a workspace, some at a time. Rows that have ended, or that another process is ending, are skipped.
 * @returns the number of rows found
 */
export async function endEach(
  db: WorkspaceDatabase,
  table: 'webhooks' | 'schedules' | 'releases' | 'improvements' | 'evaluations' | 'executions',
  which: RawBuilder<SqlBool>,
  signal: AbortSignal,
  work: (id: string) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    const rows = await db.query((own) => own.selectFrom(table).select('id').where(which).orderBy('id').limit(AT_ONCE));
    await Promise.all(
      rows.map(async ({ id }) => {
        try {
          await work(id);
        } catch (error) {
          // It has ended, or another process was faster.
          if (!(error instanceof ApiError)) throw error;
        }
      }),
    );
    count += rows.length;
    if (rows.length < AT_ONCE) break;
    await pause(signal);
  }
  return count;
}

/** Whether rows are left that could not be deleted yet. @param own bound to the workspace */
async function hasRows(own: Query): Promise<boolean> {
  const [left] = await own((db) =>
    db.selectNoFrom((eb) => eb.or(MAY_LINGER.map((table) => eb.exists(eb.selectFrom(table).select('id')))).as('more')),
  );
  return left?.more !== false;
}

interface RemoveWorkspacesDeps {
  db: Database;
  starter: WorkflowStarter;
  log: Logger;
  onExecutionEnd?: OnExecutionEnd | undefined;
  /** In the order of their declaration: later ones refer to earlier ones, so the last loses its rows first. */
  capabilities: readonly Removable[];
}

/** @returns the number of rows ended, moved or deleted */
async function removeRows(deps: RemoveWorkspacesDeps, id: string, signal: AbortSignal): Promise<number> {
  const { db, starter, log, onExecutionEnd } = deps;
  const own = bindWorkspace(db.system.query, id);
  const lastFirst = deps.capabilities.toReversed();
  let count = 0;
  for (const { end } of lastFirst)
    count += (await end?.({ ...starter, log, onExecutionEnd }, db.workspace(id), signal)) ?? 0;
  for (const toTrash of lastFirst.flatMap((each) => each.toTrash ?? []))
    for (let moved = BATCH_ROWS; moved === BATCH_ROWS && !signal.aborted; count += moved) {
      moved = await toTrash(db.system.query, id);
      await pause(signal);
    }
  for (const rows of lastFirst.flatMap((each) => each.rows ?? [])) count += await deleteInBatches(own, rows, signal);
  return count;
}

async function remove(deps: RemoveWorkspacesDeps, id: string, signal: AbortSignal, lingerMs: number): Promise<void> {
  const { query } = deps.db.system;
  const count = await removeRows(deps, id, signal);
  if (count > 0)
    deps.log.info({ workspace_id: publicId('workspace', id), rows: count }, 'removing a deleted workspace');
  if (signal.aborted || count > 0 || (await hasRows(bindWorkspace(query, id)))) return;
  await query((db) => db.deleteFrom('workspaces').where('id', '=', id).where('deleted_at', '<=', ago(lingerMs)));
}

/**
 * Removes the data of deleted workspaces, in small steps: ends work in progress, then deletes rows. What can't be removed yet is
 * left to a later call. Safe to run in several processes at once, and to be stopped at any time.
 * @param signal stops after the current step
 * @param lingerMs the minimum time between the deletion of a workspace and the removal of its row
 */
export async function removeWorkspaces(
  deps: RemoveWorkspacesDeps,
  signal: AbortSignal,
  lingerMs: number = LINGER_MS,
): Promise<void> {
  const deleted = await deps.db.system.query((db) =>
    db.selectFrom('workspaces').select('id').where('deleted_at', 'is not', null).orderBy('deleted_at'),
  );
  for (const { id } of deleted) await remove(deps, id, signal, lingerMs);
  if (deleted.length > 0) await sweep(deps.db.system, signal);
}
