import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { publicId } from '../../domain/ids.ts';
import { executionWorkflowId, SEARCH_ATTRIBUTES } from '../../temporal/names.ts';
import { startWorkflowOnce, TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../../temporal/workflows.ts';
import type { executePrompt } from '../../workflows/execute-prompt.ts';
import { holdMsOf, withdrawOrGoOn } from '../acceptance/withdrawal.ts';
import { withdrawExecution } from './execution-changes.ts';
import { type ExecutionRow, getExecution, isFinished, type QueuedExecution, queuedOf } from './executions.ts';

/**
 * Starts the workflow of a stored execution. Doing it again for the same execution changes nothing.
 * @returns false where the workflow was started before
 */
export function startExecutionWorkflow(starter: WorkflowStarter, execution: QueuedExecution): Promise<boolean> {
  const workspace = publicId('workspace', execution.workspaceId);
  return startWorkflowOnce<typeof executePrompt>(starter, 'executePrompt', {
    // Activities inherit it: servers that know fairness dispatch tasks in turns round the workspaces.
    priority: { fairnessKey: workspace },
    workflowId: executionWorkflowId(execution.id),
    taskQueue: starter.taskQueues.executions,
    args: [{ executionId: execution.id, model: execution.model, workspace }],
    staticSummary: `${execution.promptName} v${execution.promptVersion} on ${execution.model}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: workspace },
      { key: SEARCH_ATTRIBUTES.prompt, value: execution.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: execution.model },
    ]),
  });
}

/**
 * Starts the workflow, or withdraws the execution: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting
 */
export async function startOrWithdraw(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  execution: QueuedExecution,
): Promise<void> {
  try {
    await startExecutionWorkflow(deps, execution);
  } catch (error) {
    if (await withdrawExecution(db, execution.id, false)) throw error;
  }
}

/**
 * Starts an execution that an earlier request has stored, where that request did not come to it.
 * @returns the execution where it has ended already
 * @throws ApiError `not_found` where it was withdrawn
 */
export async function resumeExecution(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  id: string,
): Promise<ExecutionRow | undefined> {
  const row = await getExecution(db, id);
  if (isFinished(row.status)) return row;
  if (row.status === 'queued') await startOrWithdraw(deps, db, queuedOf(db.workspaceId, row));
  return undefined;
}

/**
 * Makes sure, before its caller is told that it failed, that an execution does not run later.
 * @param beganAt as for {@link holdMsOf}
 */
export async function giveUpExecution(
  { client, log }: Pick<WorkflowStarter, 'client'> & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
  beganAt: number | undefined,
): Promise<void> {
  const withdraw = () => withdrawExecution(db, id, true);
  await withdrawOrGoOn(log, { field: 'execution_id', id, withdraw }, holdMsOf(beganAt));
  // Ends a call that is under way; there may be no workflow.
  void cancelExecutionWorkflow(client, id, log);
}

/** Asks the workflow to stop; the row says `canceled` already, so a workflow that can't be reached does no harm. */
export async function cancelExecutionWorkflow(client: Client, id: string, log: Logger): Promise<void> {
  try {
    await client.withDeadline(Date.now() + TEMPORAL_DEADLINE_MS, () =>
      client.workflow.getHandle(executionWorkflowId(id)).cancel(),
    );
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError))
      log.warn({ err: error, execution_id: id }, 'cannot cancel a workflow');
  }
}
