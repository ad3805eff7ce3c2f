import type { Logger } from 'pino';
import type { Database } from '../db/database.ts';
import { ENDED_EVALUATION, evaluationStates, UNFINISHED_EVALUATION } from '../domain/evaluation-states.ts';
import type { StoredEvaluation } from '../services/evaluations/create-evaluation.ts';
import { startEvaluationWorkflow, tellEvaluationWorkflow } from '../services/evaluations/evaluation-workflow.ts';
import { failRun } from '../services/evaluations/run-control.ts';
import { sumUpRun } from '../services/evaluations/sum-up.ts';
import { withdrawUnacceptedEvaluation } from '../services/evaluations/withdraw-evaluation.ts';
import { evaluationWorkflowId } from '../temporal/names.ts';
import { type WorkflowStarter, workflowState } from '../temporal/workflows.ts';
import { reconcile, takeOverdue } from './reconcile.ts';

/** Runs that have not ended, and canceled ones whose workflow may not know. */
const TAKE = {
  text: `${takeOverdue('evaluations', `(untold or ${evaluationStates.in(UNFINISHED_EVALUATION)})`)}
         returning id, workspace_id as "workspaceId", prompt_name as "promptName", prompt_version as "promptVersion", model,
           retries, untold, ${evaluationStates.in(ENDED_EVALUATION)} as ended,
           accepted_at is null and status = 'scheduled' as unaccepted`,
};
/** Nobody is left who could be told of an end. */
const FORGET_NEWS = {
  text: `update evaluations set untold = false where id = $1 and retries = $2 and ${evaluationStates.in(ENDED_EVALUATION)}`,
};

type RunToCheck = StoredEvaluation & { untold: boolean; ended: boolean; unaccepted: boolean };

const ENDED_BY_OPERATOR = {
  code: 'ended_by_operator',
  message: 'The run was ended by an operator. Retry it to go on with what is left.',
};

async function reconcileOne(db: Database, starter: WorkflowStarter, log: Logger, run: RunToCheck): Promise<void> {
  const { query } = db.system;
  const state = await workflowState(starter.client, evaluationWorkflowId(run.id, run.retries));
  if (state === 'running') {
    // Told only what is news: each signal is kept in the workflow's history, and a run may wait for months.
    if (run.untold) await tellEvaluationWorkflow(starter, run);
  } else if (run.ended) {
    await query(FORGET_NEWS, [run.id, run.retries]);
  } else if (run.unaccepted) {
    if (await withdrawUnacceptedEvaluation(query, run.id))
      log.warn({ evaluation_id: run.id }, 'withdrew an evaluation that no caller had been told of');
  } else if (state === 'missing') {
    if (await startEvaluationWorkflow(starter, run))
      log.warn({ evaluation_id: run.id }, 'started an evaluation that had been left without its workflow');
  } else {
    await failRun(query, { evaluationId: run.id, round: run.retries }, ENDED_BY_OPERATOR);
    await sumUpRun(query, run.id);
    log.warn({ evaluation_id: run.id }, 'ended an evaluation whose workflow had been ended from outside');
  }
}

/**
 * One look at what should be running: starts a run anew whose workflow Temporal has lost, tells workflows of changes they may not
 * know of, and ends a run whose workflow was ended from outside. One that no caller was told of, since the process died
 * between row and start, is withdrawn.
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileEvaluations(db: Database, starter: WorkflowStarter, log: Logger): Promise<void> {
  return reconcile<RunToCheck>(db.system.query, log, {
    table: 'evaluations',
    take: TAKE,
    reconcile: (run) => reconcileOne(db, starter, log, run),
  });
}
