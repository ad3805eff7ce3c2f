import type { WorkspaceDatabase } from '../../../db/database.ts';
import { ApiError } from '../../../domain/errors.ts';
import { type CurrentEvaluation, getCurrentEvaluation, getEvaluation } from '../evaluations.ts';
import { finishRun } from '../run/finish-run.ts';
import { requireRunByCaller } from './code-runs.ts';

/**
 * Ends a run of code that has all results: sums it up and compares it with its baseline. A completed run is left unchanged.
 * @throws ApiError `not_found`, `invalid_state`
 */
export async function finishCodeEvaluation(db: WorkspaceDatabase, id: string): Promise<CurrentEvaluation> {
  const run = await getEvaluation(db.query, id);
  requireRunByCaller(run);
  const finished = await finishRun(db.unbound, { evaluationId: run.id, round: run.retries });
  const current = await getCurrentEvaluation(db, run.id);
  if (finished === 'incomplete')
    throw new ApiError(
      'invalid_state',
      `${current.examples_total - (current.summary?.evaluated ?? 0)} of ${current.examples_total} examples have no result: send their results first, or cancel the run.`,
    );
  if (current.status !== 'completed')
    throw new ApiError(
      'invalid_state',
      `This evaluation is ${current.status}: retry it to run the remaining examples.`,
    );
  return current;
}
