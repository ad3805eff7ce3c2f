import { sql } from 'kysely';
import type { WorkspaceDatabase } from '../../../db/database.ts';
import { ApiError } from '../../../domain/errors.ts';
import { ENDED_EVALUATION } from '../../../domain/evaluations/evaluation-states.ts';
import { leaveToReconciliation } from '../../../temporal/workflows.ts';
import type { Quotas } from '../../workspaces/quotas.ts';
import { isRunByCaller } from '../code/code-runs.ts';
import { type ControlDeps, changeEvaluation, continueFrom } from '../control/change-evaluation.ts';
import { startEvaluationWorkflow } from '../control/evaluation-workflow.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../evaluations.ts';
import { toStored } from './create-evaluation.ts';

/**
 * Runs the failed and the unreached examples of an ended evaluation again. Scored examples are kept.
 * @throws ApiError `not_found`, `invalid_state`, `quota_exceeded`
 */
export async function retryEvaluation(
  deps: ControlDeps & { quotas: Quotas },
  db: WorkspaceDatabase,
  id: string,
): Promise<EvaluationRow> {
  const before = await getCurrentEvaluation(db, id);
  const { evaluated = 0, failed = 0 } = before.summary ?? {};
  if (before.status === 'completed' && failed === 0)
    throw new ApiError('invalid_state', 'No example of this evaluation has failed: there is nothing to retry.');
  const [examples] = await db.query((own) => own.selectFrom('evaluations').select('examples_id').where('id', '=', id));
  if (examples === undefined || examples.examples_id === null)
    throw new ApiError('invalid_state', 'The dataset of this evaluation was deleted: there are no examples to retry.');
  const row = await db.transaction(async (query) => {
    const changed = await changeEvaluation(query, id, {
      ways: continueFrom(ENDED_EVALUATION),
      set: {
        status_reason: null,
        error: null,
        finished_at: null,
        score: null,
        scores_by_evaluator: null,
        regressions: null,
        improvements: null,
        retries: sql<number>`retries + 1`,
      },
      from: ENDED_EVALUATION,
      done: 'retried',
      audit: ['evaluation.retried'],
    });
    await deps.quotas.require(query, 'evaluations');
    return changed;
  });
  deps.log.info({ evaluation_id: row.id, evaluated, failed }, 'retrying an evaluation');
  // The program that runs it sends the remaining results.
  if (isRunByCaller(row)) return getCurrentEvaluation(db, row.id);
  await startEvaluationWorkflow(deps, toStored(row)).catch(leaveToReconciliation(deps.log, { evaluation_id: row.id }));
  return getCurrentEvaluation(db, row.id);
}
