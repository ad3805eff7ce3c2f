import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../domain/execution-states.ts';
import { completeExecution, failExecution, withdrawUnaccepted } from '../services/executions/execution-changes.ts';
import type { QueuedExecution } from '../services/executions/executions.ts';
import { startExecutionWorkflow } from '../services/executions/start-execution.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import { type WorkflowStarter, workflowState } from '../temporal/workflows.ts';
import { reconcile, takeOverdue } from './reconcile.ts';

const TAKE = {
  text: `${takeOverdue('executions', executionStates.in(UNFINISHED_EXECUTION))}
         returning id, workspace_id as "workspaceId", prompt_name as "promptName", prompt_version as "promptVersion", model,
           answered_at is not null as answered, accepted_at is null and status = 'queued' as unaccepted`,
};

type Unfinished = QueuedExecution & { answered: boolean; unaccepted: boolean };

async function reconcileOne(db: Database, starter: WorkflowStarter, log: Logger, execution: Unfinished): Promise<void> {
  const { query } = db.system;
  const state = await workflowState(starter.client, executionWorkflowId(execution.id));
  if (state === 'running') return;
  if (execution.unaccepted) {
    if (await withdrawUnaccepted(query, execution.id))
      log.warn({ execution_id: execution.id }, 'withdrew an execution that no caller had been told of');
  } else if (state === 'missing') {
    if (await startExecutionWorkflow(starter, execution))
      log.warn({ execution_id: execution.id }, 'started an execution that had been left without its workflow');
  } else {
    if (execution.answered) await completeExecution(query, execution.id);
    else
      await failExecution(query, execution.id, {
        code: 'model_unavailable',
        message: 'The run was ended by an operator before the model had answered.',
      });
    log.warn({ execution_id: execution.id }, 'ended an execution whose workflow had been ended from outside');
  }
}

/**
 * One look at what should be running, so that none stays unfinished for ever. Starts an execution anew whose workflow Temporal has
 * lost, and ends one whose workflow was ended from outside. One that no caller was told of, since the process died
 * between row and start, is withdrawn.
 * @throws Error where Temporal or the database is away; what was not looked at is at the next call
 */
export function reconcileExecutions(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile<Unfinished>(db.system.query, log, {
    table: 'executions',
    take: TAKE,
    reconcile: (execution) => reconcileOne(db, starter, log, execution),
  });
}
