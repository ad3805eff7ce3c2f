import { sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { notFound } from '../../../domain/errors.ts';
import type { WorkflowStarter } from '../../../temporal/workflows.ts';
import { EVALUATION } from '../../acceptance/kinds.ts';
import { startedOrWithdrawn } from '../../acceptance/withdrawal.ts';
import { startEvaluationWorkflow } from '../control/evaluation-workflow.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';
import { toStored } from './create-evaluation.ts';

/**
 * Starts the workflow of a stored evaluation, or withdraws the evaluation. Once started, marks it as accepted: its caller is
 * notified now, and it runs whatever happens.
 * @returns the evaluation as it was before
 * @throws ApiError `not_found` if it was withdrawn; otherwise the error that kept the workflow from starting
 */
export async function startEvaluation(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  id: string,
): Promise<EvaluationRow> {
  const row = await getEvaluation(db.query, id);
  await startedOrWithdrawn(startEvaluationWorkflow(deps, toStored(row)), EVALUATION, db, id);
  await accept(db.query, id);
  return row;
}

async function accept(query: Query, id: string): Promise<void> {
  const accepted = await query((own) =>
    own
      .updateTable('evaluations')
      .set({ accepted_at: sql<Date>`coalesce(accepted_at, now())` })
      .where('id', '=', id)
      .returning('id'),
  );
  if (accepted.length === 0) throw notFound('This evaluation');
}
