import { type SqlBool, sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database, Query } from '../db/database.ts';
import { inStates } from '../db/state-change.ts';
import type { Builder } from '../db/statement.ts';
import {
  ENDED_BY_OPERATOR,
  ENDED_EVALUATION,
  evaluationStates,
  UNFINISHED_EVALUATION,
} from '../domain/evaluations/evaluation-states.ts';
import { endAbandoned } from '../services/evaluations/code/end-abandoned.ts';
import {
  startEvaluationWorkflow,
  tellEvaluationWorkflow,
} from '../services/evaluations/control/evaluation-workflow.ts';
import { failRun } from '../services/evaluations/control/run-control.ts';
import { STORED_COLUMNS, type StoredEvaluation } from '../services/evaluations/creation/create-evaluation.ts';
import { withdrawUnacceptedEvaluation } from '../services/evaluations/creation/withdraw-evaluation.ts';
import type { OnEvaluationEnd } from '../services/evaluations/evaluation-metrics.ts';
import { sumUpRun } from '../services/evaluations/run/sum-up.ts';
import { evaluationWorkflowId } from '../temporal/names.ts';
import type { WorkflowStarter } from '../temporal/workflows.ts';
import { compareWithWorkflow } from './compare-with-workflow.ts';
import { NEXT_CHECK, overdue, reconcile } from './reconcile.ts';

/** Runs that have not ended, and canceled ones whose workflow may not know. */
const takeUnfinished = (db: Builder) =>
  overdue(db, 'evaluations', sql<boolean>`(signal_pending or ${inStates(evaluationStates, UNFINISHED_EVALUATION)})`)
    .updateTable('evaluations as e')
    .from('overdue')
    // A run of a caller's program has no workflow to be compared with: it is looked at when its results are overdue.
    .set({ check_at: sql<Date>`greatest(e.results_due_at, ${NEXT_CHECK})` })
    .whereRef('e.id', '=', 'overdue.id')
    .returning(['e.id', 'workspace_id as workspaceId'])
    .returning(STORED_COLUMNS)
    .returning((eb) => [
      'signal_pending',
      inStates(evaluationStates, ENDED_EVALUATION).as('ended'),
      eb('results_due_at', 'is not', null).as('by_caller'),
      eb.and([eb('accepted_at', 'is', null), eb('status', '=', 'scheduled')]).as('unaccepted'),
    ]);

type RunToCheck = StoredEvaluation & {
  signal_pending: boolean;
  ended: SqlBool;
  by_caller: SqlBool;
  unaccepted: SqlBool;
};

/** The workflow has ended: there is nobody left to tell. */
async function clearPending(query: Query, { id, retries }: RunToCheck): Promise<void> {
  await query((db) =>
    db
      .updateTable('evaluations')
      .set({ signal_pending: false })
      .where('id', '=', id)
      .where('retries', '=', retries)
      .where(inStates(evaluationStates, ENDED_EVALUATION)),
  );
}

async function reconcileOne(
  { system: { query } }: Database,
  { onEnd, ...deps }: WorkflowStarter & { log: Logger; onEnd: OnEvaluationEnd | undefined },
  run: RunToCheck,
): Promise<void> {
  const { id, retries: round } = run;
  if (run.by_caller) {
    if (run.ended) await clearPending(query, run);
    else if (await endAbandoned(query, id)) {
      deps.log.info({ evaluation_id: id }, 'ended an evaluation whose results have not come');
      onEnd?.('failed');
    }
    return;
  }
  return compareWithWorkflow(deps, 'evaluation', run, {
    workflowId: evaluationWorkflowId(id, round),
    tell: () => tellEvaluationWorkflow(deps, run),
    clearPending: () => clearPending(query, run),
    withdraw: () => withdrawUnacceptedEvaluation(query, id),
    start: () => startEvaluationWorkflow(deps, run),
    async end() {
      if (await failRun(query, { evaluationId: id, round }, ENDED_BY_OPERATOR)) onEnd?.('failed');
      await sumUpRun(query, id);
    },
  });
}

/**
 * Looks once at the runs that are overdue: starts a workflow that Temporal has lost, tells workflows of changes that they have not
 * read, and ends a run whose workflow was ended from outside, or whose program has sent no results for long. One that was never accepted, since the process died while it was
 * created, is withdrawn.
 * @param onEnd told of each run that is ended here
 * @throws Error where Temporal or the database is away; what was not looked at is at a later call
 */
export function reconcileEvaluations(
  db: Database,
  starter: WorkflowStarter,
  log: Logger,
  onEnd?: OnEvaluationEnd,
): Promise<void> {
  return reconcile(db.system.query, log, {
    table: 'evaluations',
    take: takeUnfinished,
    reconcile: (run) => reconcileOne(db, { ...starter, log, onEnd }, run),
  });
}
