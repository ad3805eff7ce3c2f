import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { UNFINISHED } from '../domain/execution-states.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import { type WorkflowStarter, workflowState } from '../temporal/workflows.ts';
import type { QueuedExecution } from './executions.ts';
import { completeExecution, failExecution } from './finish-execution.ts';
import { reconcile, takeOverdue } from './reconcile.ts';
import { startExecutionWorkflow } from './run-execution.ts';

const TAKE = {
  text: `${takeOverdue('executions', UNFINISHED)}
         returning id, workspace_id as "workspaceId", prompt_name as "promptName", prompt_version as "promptVersion", model,
           answered_at is not null as answered`,
};

type Unfinished = QueuedExecution & { answered: boolean };

async function rescue(db: Database, starter: WorkflowStarter, log: Logger, execution: Unfinished): Promise<void> {
  const state = await workflowState(starter.client, executionWorkflowId(execution.id));
  if (state === 'missing') {
    if (await startExecutionWorkflow(starter, execution))
      log.warn({ execution_id: execution.id }, 'started an execution that had been left without its workflow');
  } else if (state === 'closed') {
    if (execution.answered) await completeExecution(db.system.query, execution.id);
    else
      await failExecution(db.system.query, execution.id, {
        code: 'model_unavailable',
        message: 'The run was ended by an operator before the model had answered.',
      });
    log.warn({ execution_id: execution.id }, 'ended an execution whose workflow had been ended from outside');
  }
}

/**
 * One look at what should be running. Starts the workflow of an execution whose process died between row and start, and ends
 * an execution whose workflow was ended from outside, so that none stays unfinished for ever.
 * @throws Error where Temporal or the database is away; what was not looked at is at the next call
 */
export function rescueExecutions(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile<Unfinished>(db.system.query, log, {
    table: 'executions',
    take: TAKE,
    reconcile: (execution) => rescue(db, starter, log, execution),
  });
}
