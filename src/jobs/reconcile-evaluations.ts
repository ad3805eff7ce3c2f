import { sql } from 'kysely';
import { inStates } from '../db/state-change.ts';
import {
  ENDED_BY_OPERATOR,
  ENDED_EVALUATION,
  evaluationStates,
  UNFINISHED_EVALUATION,
} from '../domain/evaluations/evaluation-states.ts';
import { endAbandoned } from '../services/evaluations/code/end-abandoned.ts';
import { startEvaluationWorkflow } from '../services/evaluations/control/evaluation-workflow.ts';
import { failRun } from '../services/evaluations/control/run-control.ts';
import { STORED_COLUMNS } from '../services/evaluations/creation/create-evaluation.ts';
import { withdrawUnacceptedEvaluation } from '../services/evaluations/creation/withdraw-evaluation.ts';
import type { OnEvaluationEnd } from '../services/evaluations/evaluation-metrics.ts';
import { sumUpRun } from '../services/evaluations/run/sum-up.ts';
import { evaluationWorkflowId } from '../temporal/names.ts';
import { tellChanged } from '../temporal/workflows.ts';
import { compareWithWorkflow, NEXT_CHECK, type ReconcileDeps, reconcile } from './reconcile.ts';

/**
 * Also ends runs whose program has not sent results for long.
 * @param deps `onEvaluationEnd`: called for each run that is ended here
 */
export const reconcileEvaluations = ({
  onEvaluationEnd,
  ...deps
}: ReconcileDeps & { onEvaluationEnd?: OnEvaluationEnd | undefined }): Promise<void> =>
  reconcile(deps, {
    table: 'evaluations',
    // Unfinished runs, and canceled ones whose workflow may not know.
    due: sql<boolean>`(signal_pending or ${inStates(evaluationStates, UNFINISHED_EVALUATION)})`,
    // A run of a caller's program has no workflow to compare with: it is checked when its results are overdue.
    nextCheck: sql<Date>`greatest(results_due_at, ${NEXT_CHECK})`,
    read: (db) =>
      db
        .selectFrom('evaluations')
        .innerJoin('taken', 'taken.id', 'evaluations.id')
        .select(['evaluations.id', 'workspace_id as workspaceId'])
        .select(STORED_COLUMNS)
        .select((eb) => [
          'signal_pending as untold',
          inStates(evaluationStates, ENDED_EVALUATION).as('ended'),
          eb('results_due_at', 'is not', null).as('byCaller'),
          eb.and([eb('accepted_at', 'is', null), eb('status', '=', 'scheduled')]).as('unaccepted'),
        ]),
    async reconcile(run) {
      const { query } = deps.db.system;
      const { id, retries: round } = run;
      const clearPending = () =>
        query((db) =>
          db
            .updateTable('evaluations')
            .set({ signal_pending: false })
            .where('id', '=', id)
            .where('retries', '=', round)
            .where(inStates(evaluationStates, ENDED_EVALUATION)),
        );
      if (run.byCaller) {
        if (run.ended) await clearPending();
        else if (await endAbandoned(query, id)) {
          deps.log.info({ evaluation_id: id }, 'ended an evaluation whose results did not arrive');
          onEvaluationEnd?.('failed');
        }
        return;
      }
      const workflowId = evaluationWorkflowId(id, round);
      await compareWithWorkflow(deps, 'evaluation', run, {
        workflowId,
        tell: () => tellChanged(deps.starter, workflowId),
        clearPending,
        withdraw: () => withdrawUnacceptedEvaluation(query, id),
        start: () => startEvaluationWorkflow(deps.starter, run),
        async end() {
          if (await failRun(query, { evaluationId: id, round }, ENDED_BY_OPERATOR)) onEvaluationEnd?.('failed');
          await sumUpRun(query, id);
        },
      });
    },
  });
