import { setTimeout as delay } from 'node:timers/promises';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/errors.ts';
import { publicId } from '../domain/ids.ts';
import { executionWorkflowId, SEARCH_ATTRIBUTES } from '../temporal/names.ts';
import { startWorkflowOnce, TEMPORAL_DEADLINE_MS, type WorkflowStarter } from '../temporal/workflows.ts';
import type { executePrompt } from '../workflows/execute-prompt.ts';
import { type QueuedExecution, withdrawExecution } from './executions.ts';

const WITHDRAW_AGAIN_MS = 1_000;

/**
 * Starts the workflow of a stored execution. Doing it again for the same execution changes nothing.
 * @returns false where the workflow was started before
 */
export function startExecutionWorkflow(starter: WorkflowStarter, execution: QueuedExecution): Promise<boolean> {
  return startWorkflowOnce<typeof executePrompt>(starter, 'executePrompt', {
    workflowId: executionWorkflowId(execution.id),
    taskQueue: starter.taskQueues.executions,
    args: [{ executionId: execution.id, model: execution.model }],
    staticSummary: `${execution.promptName} v${execution.promptVersion} on ${execution.model}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SEARCH_ATTRIBUTES.workspace, value: publicId('workspace', execution.workspaceId) },
      { key: SEARCH_ATTRIBUTES.prompt, value: execution.promptName },
      { key: SEARCH_ATTRIBUTES.model, value: execution.model },
    ]),
  });
}

/**
 * Starts the workflow, or makes sure that nothing runs later: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting, once the execution is withdrawn
 */
export async function startOrWithdraw(
  deps: WorkflowStarter & { log: Logger },
  db: WorkspaceDatabase,
  execution: QueuedExecution,
): Promise<void> {
  try {
    await startExecutionWorkflow(deps, execution);
  } catch (error) {
    try {
      if (!(await withdrawExecution(db, execution.id))) return;
    } catch (failure) {
      deps.log.error({ err: failure, execution_id: execution.id }, 'cannot withdraw an execution yet; going on trying');
      void withdrawLater(deps.log, db, execution.id);
    }
    throw error;
  }
}

/** Goes on until the database answers, so that what was answered with a 500 does not run later. */
export async function withdrawLater(log: Logger, db: WorkspaceDatabase, id: string): Promise<void> {
  for (;;) {
    await delay(WITHDRAW_AGAIN_MS, undefined, { ref: false });
    try {
      await withdrawExecution(db, id);
      return;
    } catch (error) {
      if (isDatabaseUnavailable(error)) continue;
      log.error({ err: error, execution_id: id }, 'cannot withdraw an execution');
      return;
    }
  }
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
