import { ServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { executionWorkflowId } from '../temporal/names.ts';
import { isTemporalAway, type WorkflowStarter, workflowState } from '../temporal/workflows.ts';
import type { QueuedExecution } from './executions.ts';
import { completeExecution, failExecution } from './finish-execution.ts';
import { startExecutionWorkflow } from './run-execution.ts';

const BATCH_SIZE = 200;

/** Executions that have not moved for a while, each looked at by one process at a time, none before the others. */
const TAKE = {
  text: `update executions set checked_at = now() where id in (
           select id from executions
           where status in ('queued', 'running') and coalesce(checked_at, created_at) < now() - interval '30 seconds'
           order by coalesce(checked_at, created_at), id limit ${BATCH_SIZE} for update skip locked)
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
export async function rescueExecutions(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  for (;;) {
    const unfinished = await db.system.query<Unfinished>(TAKE);
    for (const execution of unfinished) {
      try {
        await rescue(db, starter, log, execution);
      } catch (error) {
        if (!(error instanceof ServiceError) || isTemporalAway(error)) throw error;
        // One that Temporal refuses must not keep the others from being looked at.
        log.error({ err: error, execution_id: execution.id }, 'cannot rescue an execution');
      }
    }
    if (unfinished.length < BATCH_SIZE) return;
  }
}
