import type { Logger } from 'pino';
import type { Database } from '../../db/database.ts';
import { evaluationStates, UNFINISHED_EVALUATION } from '../../domain/evaluation-states.ts';
import { evaluationWorkflowId } from '../../temporal/names.ts';
import { type WorkflowStarter, workflowState } from '../../temporal/workflows.ts';
import type { StoredEvaluation } from './create-evaluation.ts';
import {
  startEvaluationWorkflow,
  tellEvaluationWorkflow,
  withdrawUnacceptedEvaluation,
} from './evaluation-workflow.ts';
import { failRun } from './run-control.ts';
import { sumUpRun } from './sum-up.ts';

type RunToCheck = StoredEvaluation & { untold: boolean; unaccepted: boolean };

/**
 * Runs that have not ended, each looked at by one process at a time; one that was changed just now, soon: its workflow may
 * not have been told.
 */
const TAKE = {
  text: `update evaluations e set checked_at = now() from (
           select id, checked_at is null as untold from evaluations
           where ${evaluationStates.in(UNFINISHED_EVALUATION)}
             and coalesce(checked_at, created_at) < now() - interval '30 seconds'
           order by checked_at nulls first, id limit 100 for update skip locked) as due
         where e.id = due.id
         returning e.id, due.untold, workspace_id as "workspaceId", prompt_name as "promptName",
           prompt_version as "promptVersion", model, retries, accepted_at is null and status = 'scheduled' as unaccepted`,
};
const PUT_BACK = {
  text: `update evaluations set checked_at = null where id = any($1::uuid[])`,
};

const ENDED_BY_OPERATOR = {
  code: 'ended_by_operator',
  message: 'The run was ended by an operator. Retry it to go on with what is left.',
};

async function rescue(db: Database, starter: WorkflowStarter, log: Logger, run: RunToCheck): Promise<void> {
  const state = await workflowState(starter.client, evaluationWorkflowId(run.id, run.retries));
  // Told only what is news: each signal is kept in the workflow's history, and a run may wait for months.
  if (state === 'running' && run.untold) await tellEvaluationWorkflow(starter, run);
  if (state === 'running') return;
  if (run.unaccepted) {
    if (await withdrawUnacceptedEvaluation(db.system.query, run.id))
      log.warn({ evaluation_id: run.id }, 'withdrew an evaluation that no caller had been told of');
    return;
  }
  if (state === 'missing') {
    await startEvaluationWorkflow(starter, run);
    log.warn({ evaluation_id: run.id }, 'started an evaluation that had been left without its workflow');
    return;
  }
  await failRun(db.system.query, { evaluationId: run.id, round: run.retries }, ENDED_BY_OPERATOR);
  await sumUpRun(db.system.query, run.id);
  log.warn({ evaluation_id: run.id }, 'ended an evaluation whose workflow had been ended from outside');
}

/**
 * One look at what should be running: starts a run anew whose workflow Temporal has lost, tells workflows of changes they may not
 * know of, and ends a run whose workflow was ended from outside. One that no caller was told of, since the process died
 * between row and start, is withdrawn.
 */
export async function rescueEvaluations(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  const runs = await db.system.query<RunToCheck>(TAKE);
  for (const [index, run] of runs.entries()) {
    try {
      await rescue(db, starter, log, run);
    } catch (error) {
      // What is news stays news until it was told; most likely Temporal is away, so the rest comes next time.
      const left = runs.slice(index).flatMap(({ id, untold }) => (untold ? [id] : []));
      await db.system.query(PUT_BACK, [left]);
      throw error;
    }
  }
}
