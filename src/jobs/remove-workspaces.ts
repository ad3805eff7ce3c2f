import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import { bindWorkspace, type Database, type WorkspaceDatabase } from '../db/database.ts';
import { BATCH_ROWS, deleteInBatches, pause } from '../db/delete-in-batches.ts';
import { ago } from '../db/sql.ts';
import { inStates } from '../db/state-change.ts';
import { ApiError } from '../domain/errors.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../domain/evaluations/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { publicId } from '../domain/ids.ts';
import { releaseStates, UNFINISHED_RELEASE } from '../domain/releases/release-states.ts';
import { cancelEvaluation } from '../services/evaluations/control/control-evaluation.ts';
import type { OnExecutionEnd } from '../services/executions/execution-metrics.ts';
import { cancelExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import { cancelExecution } from '../services/executions/run/end-execution.ts';
import { controlRelease } from '../services/releases/control-release.ts';
import { deleteSchedule } from '../services/schedules/control-schedule.ts';
import { deleteWebhook } from '../services/webhooks/change-webhook.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { sweep } from './sweep.ts';
import { hasRows, ROWS, TO_TRASH } from './workspace-rows.ts';

export interface RemoveWorkspacesDeps {
  db: Database;
  starter: WorkflowStarter;
  log: Logger;
  /** Told of each execution that is ended. */
  onExecutionEnd?: OnExecutionEnd;
}

/** A request that was let in before the workspace was deleted may still write: the last look is after it has ended. */
const LINGER_MS = 60 * 60_000;
/** Workflows that are being ended at a time. */
const AT_ONCE = 20;

async function eachId(
  db: WorkspaceDatabase,
  table: 'webhooks' | 'schedules' | 'releases' | 'evaluations' | 'executions',
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
          // It has ended by itself, or another process was here.
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

/** Ends workflows, schedules and deliveries. */
async function endAll(
  { db, starter, log, onExecutionEnd: onEnd }: RemoveWorkspacesDeps,
  id: string,
  signal: AbortSignal,
): Promise<number> {
  const workspace = db.workspace(id);
  const deps = { ...starter, log };
  const all = sql<SqlBool>`true`;
  const webhooks = await eachId(workspace, 'webhooks', all, signal, (webhook) => deleteWebhook(workspace, webhook));
  const schedules = await eachId(workspace, 'schedules', all, signal, (schedule) =>
    deleteSchedule(deps, workspace, schedule),
  );
  const mover = { scopes: ['admin'] } as const;
  const unfinishedReleases = inStates(releaseStates, UNFINISHED_RELEASE);
  const releases = await eachId(workspace, 'releases', unfinishedReleases, signal, (release) =>
    controlRelease(deps, workspace, release, 'rollback', { mover, comment: null }),
  );
  const unfinishedEvaluations = inStates(evaluationStates, UNFINISHED_EVALUATION);
  const evaluations = await eachId(workspace, 'evaluations', unfinishedEvaluations, signal, (evaluation) =>
    cancelEvaluation(deps, workspace, evaluation),
  );
  const unfinishedExecutions = inStates(executionStates, UNFINISHED_EXECUTION);
  const executions = await eachId(workspace, 'executions', unfinishedExecutions, signal, async (execution) => {
    await cancelExecution(workspace, execution, onEnd);
    await cancelExecutionWorkflow(starter.client, execution, log);
  });
  return webhooks + schedules + releases + evaluations + executions;
}

async function remove(deps: RemoveWorkspacesDeps, id: string, signal: AbortSignal, lingerMs: number): Promise<void> {
  const { query } = deps.db.system;
  const own = bindWorkspace(query, id);
  let count = await endAll(deps, id, signal);
  for (const toTrash of TO_TRASH)
    for (let moved = BATCH_ROWS; moved === BATCH_ROWS && !signal.aborted; count += moved) {
      moved = (await toTrash(query, id)).length;
      await pause(signal);
    }
  for (const rows of ROWS) count += await deleteInBatches(own, rows, signal);
  if (count > 0)
    deps.log.info({ workspace_id: publicId('workspace', id), rows: count }, 'removing a deleted workspace');
  if (signal.aborted || count > 0 || (await hasRows(own))) return;
  await query((db) => db.deleteFrom('workspaces').where('id', '=', id).where('deleted_at', '<=', ago(lingerMs)));
}

/**
 * Removes what workspaces have that were deleted, in small steps: ends what is under way, then deletes rows. What can't go yet goes
 * at a later call. Safe to run in several processes at once, and to be stopped at any time.
 * @param signal ends it after the current step
 * @param lingerMs how long after its deletion a workspace is forgotten at the earliest
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
