import { sql } from 'kysely';
import { ApiError } from '../../../domain/errors.ts';
import { RESULTS_DUE_HOURS } from '../../../domain/evaluations/code-run.ts';
import type { EvaluationRow } from '../evaluations.ts';

const DUE = sql<Date>`now() + interval ${sql.lit(`${RESULTS_DUE_HOURS} hours`)}`;

/** Set whenever the program that runs it sends something. Such a run has no workflow and is checked when its time is up. */
export const STILL_DUE = { results_due_at: DUE, check_at: DUE };

/** Whether the results come from outside. A run that re-scores the outputs of such a run is run by the service. */
export const isRunByCaller = ({ results_due_at: dueAt }: Pick<EvaluationRow, 'results_due_at'>): boolean =>
  dueAt !== null;

/** @throws ApiError `invalid_state` */
export function requireRunByCaller(run: Pick<EvaluationRow, 'results_due_at'>): void {
  if (!isRunByCaller(run))
    throw new ApiError('invalid_state', 'The service runs this evaluation itself: results cannot be added.');
}
