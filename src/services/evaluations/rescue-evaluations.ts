import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { evaluationWorkflowId } from '../../temporal/names.ts';
import type { WorkflowStarter } from '../run-execution.ts';
import type { StoredEvaluation } from './create-evaluation.ts';
import { startEvaluationWorkflow, tellEvaluationWorkflow } from './evaluation-workflow.ts';

/** Runs that have not ended, each looked at by one process at a time; one that was changed just now, soon. */
const TAKE = {
  text: `update evaluations set checked_at = now() where id in (
           select id from evaluations
           where status in ('scheduled', 'running', 'paused')
             and coalesce(checked_at, created_at) < now() - interval '30 seconds'
           order by id limit 100 for update skip locked)
         returning id, workspace_id as "workspaceId", prompt_name as "promptName", prompt_version as "promptVersion", model,
           retries`,
};

const END = {
  text: `update evaluations set status = 'failed', finished_at = now(), error = $2
         where id = $1 and status in ('scheduled', 'running', 'paused')`,
};

async function isRunning({ client }: WorkflowStarter, { id, retries }: StoredEvaluation): Promise<boolean | undefined> {
  try {
    const { status } = await client.workflow.getHandle(evaluationWorkflowId(id, retries)).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * One look at what should be running: starts a run whose process died between row and workflow, tells workflows again that
 * their row may have changed, and ends a run whose workflow was ended from outside.
 */
export async function rescueEvaluations(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  for (const run of await db.system.query<StoredEvaluation>(TAKE)) {
    const running = await isRunning(starter, run);
    if (running === true) await tellEvaluationWorkflow(starter, run);
    else if (running === undefined) {
      await startEvaluationWorkflow(starter, run);
      log.warn({ evaluation_id: run.id }, 'started an evaluation that had been left without its workflow');
    } else {
      const message = 'The run was ended by an operator. Retry it to go on with what is left.';
      await db.system.query(END, [run.id, { code: 'ended_by_operator', message }]);
      log.warn({ evaluation_id: run.id }, 'ended an evaluation whose workflow had been ended from outside');
    }
  }
}
