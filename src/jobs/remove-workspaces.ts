import type { Logger } from 'pino';
import type { Database, WorkspaceDatabase } from '../db/database.ts';
import { BATCH_ROWS, type Doomed, deleteInBatches, pause } from '../db/delete-in-batches.ts';
import { TRASH_WORKSPACE } from '../db/trash.ts';
import { deliveryStates, UNFINISHED_DELIVERY } from '../domain/delivery-states.ts';
import { ApiError } from '../domain/errors.ts';
import { ENDED_EVALUATION, evaluationStates, UNFINISHED_EVALUATION } from '../domain/evaluation-states.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { publicId } from '../domain/ids.ts';
import { cancelEvaluation } from '../services/evaluations/control-evaluation.ts';
import { cancelExecution } from '../services/executions/end-execution.ts';
import { cancelExecutionWorkflow } from '../services/executions/execution-workflow.ts';
import { deleteSchedule } from '../services/schedules/control-schedule.ts';
import { deleteWebhook } from '../services/webhooks/change-webhook.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { sweep } from './sweep.ts';

export interface RemoveWorkspacesDeps {
  db: Database;
  starter: WorkflowStarter;
  log: Logger;
}

/** A request that was let in before the workspace was deleted may still write: the last look is after it has ended. */
const LINGER_MS = 60 * 60_000;
/** Workflows that are being ended at a time. */
const AT_ONCE = 20;

const own = 'workspace_id = $1';
const unsent = `(${deliveryStates.in(UNFINISHED_DELIVERY)} or to_end)`;

/** What is deleted as it is, in this order; what refers to others goes before them. Each has an index that begins with the workspace. */
const ROWS: Omit<Doomed, 'values'>[] = [
  { table: 'idempotency_keys', where: own, bytes: 'coalesce(octet_length(answer), 0)' },
  {
    table: 'executions',
    where: `${own} and ${executionStates.in(executionStates.final)}`,
    bytes: 'bytes',
    byId: true,
  },
  // Workflows are told first of deliveries that were ended.
  { table: 'deliveries', where: `${own} and not ${unsent}` },
  {
    table: 'events',
    where: `${own} and not exists (select from deliveries d where d.event_id = events.id)`,
    byId: true,
  },
  { table: 'notifications', where: own, byId: true },
  {
    table: 'prompt_versions',
    where: 'prompt_id in (select id from prompts where workspace_id = $1)',
    bytes: 'octet_length(template)',
  },
  { table: 'prompts', where: own },
  {
    table: 'datasets',
    where: `${own} and not exists (select from dataset_versions v where v.dataset_id = datasets.id)`,
  },
  { table: 'api_keys', where: own, byId: true },
  { table: 'usage_entries', where: own },
  { table: 'usage_sums', where: own },
];

/** Moves out of sight what has many rows of its own; `sweep` deletes them. */
const TO_TRASH = [
  `update evaluations set workspace_id = '${TRASH_WORKSPACE}' where id in (
     select id from evaluations where workspace_id = $1 and ${evaluationStates.in(ENDED_EVALUATION)}
     order by id limit ${BATCH_ROWS} for update skip locked) returning id`,
  `update dataset_versions set workspace_id = '${TRASH_WORKSPACE}', dataset_id = null where id in (
     select id from dataset_versions where workspace_id = $1 limit ${BATCH_ROWS} for update skip locked) returning id`,
];

async function eachId(
  db: WorkspaceDatabase,
  text: string,
  signal: AbortSignal,
  work: (id: string) => Promise<unknown>,
): Promise<number> {
  let count = 0;
  while (!signal.aborted) {
    const rows = await db.query<{ id: string }>({ text: `${text} order by id limit ${AT_ONCE}` });
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
async function endAll({ db, starter, log }: RemoveWorkspacesDeps, id: string, signal: AbortSignal): Promise<number> {
  const workspace = db.workspace(id);
  const deps = { ...starter, log };
  const webhooks = await eachId(workspace, 'select id from webhooks where workspace_id = $1', signal, (webhook) =>
    deleteWebhook(workspace, webhook),
  );
  const schedules = await eachId(workspace, 'select id from schedules where workspace_id = $1', signal, (schedule) =>
    deleteSchedule(deps, workspace, schedule),
  );
  const evaluations = await eachId(
    workspace,
    `select id from evaluations where workspace_id = $1 and ${evaluationStates.in(UNFINISHED_EVALUATION)}`,
    signal,
    (evaluation) => cancelEvaluation(deps, workspace, evaluation),
  );
  const executions = await eachId(
    workspace,
    `select id from executions where workspace_id = $1 and ${executionStates.in(UNFINISHED_EXECUTION)}`,
    signal,
    async (execution) => {
      await cancelExecution(workspace, execution);
      await cancelExecutionWorkflow(starter.client, execution, log);
    },
  );
  return webhooks + schedules + evaluations + executions;
}

const LEFT = {
  text: `select exists (select from deliveries where workspace_id = $1) or exists (select from events where workspace_id = $1)
           or exists (select from executions where workspace_id = $1) or exists (select from datasets where workspace_id = $1) as more`,
};
const REMOVE = {
  text: 'delete from workspaces where id = $1 and deleted_at <= now() - make_interval(secs => $2) returning id',
};

async function remove(deps: RemoveWorkspacesDeps, id: string, signal: AbortSignal, lingerMs: number): Promise<boolean> {
  const { query } = deps.db.system;
  let count = await endAll(deps, id, signal);
  for (const text of TO_TRASH)
    for (let moved = BATCH_ROWS; moved === BATCH_ROWS && !signal.aborted; count += moved) {
      moved = (await query({ text }, [id])).length;
      await pause(signal);
    }
  for (const rows of ROWS) count += await deleteInBatches(query, { ...rows, values: [id] }, signal);
  if (count > 0)
    deps.log.info({ workspace_id: publicId('workspace', id), rows: count }, 'removing a deleted workspace');
  const [left] = await query<{ more: boolean }>(LEFT, [id]);
  if (signal.aborted || count > 0 || left?.more !== false) return false;
  return (await query(REMOVE, [id, lingerMs / 1_000])).length > 0;
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
  const deleted = await deps.db.system.query<{ id: string }>({
    text: 'select id from workspaces where deleted_at is not null order by deleted_at',
  });
  for (const { id } of deleted) await remove(deps, id, signal, lingerMs);
  if (deleted.length > 0) await sweep(deps.db.system, signal);
}
