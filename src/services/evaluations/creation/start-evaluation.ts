import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../../db/database.ts';
import { notFound } from '../../../domain/errors.ts';
import { leaveToReconciliation, type WorkflowStarter } from '../../../temporal/workflows.ts';
import { EVALUATION } from '../../acceptance/kinds.ts';
import { startedOrWithdrawn } from '../../acceptance/withdrawal.ts';
import { startEvaluationWorkflow } from '../control/evaluation-workflow.ts';
import { type EvaluationRow, getEvaluation } from '../evaluations.ts';
import { toStored } from './create-evaluation.ts';

/**
 * Starts the workflow of a stored evaluation, or withdraws the evaluation. Once started, marks it as accepted: its caller is
 * notified now, and it runs whatever happens. So does the run of recorded outputs that was stored with it.
 * @returns the evaluation as it was before
 * @throws ApiError `not_found` if it was withdrawn; otherwise the error that kept the workflow from starting
 */
export async function startEvaluation(
  deps: WorkflowStarter & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
): Promise<EvaluationRow> {
  const row = await getEvaluation(db.query, id);
  await startedOrWithdrawn(startEvaluationWorkflow(deps, toStored(row)), EVALUATION, db, id);
  const recorded = await accept(db.query, id);
  if (recorded !== undefined) await startRecorded(deps, db, recorded);
  return row;
}

/** @returns the id of the run of recorded outputs that was accepted with it */
async function accept(query: Query, id: string): Promise<string | undefined> {
  const accepted = await query((own) =>
    own
      .updateTable('evaluations')
      .set({ accepted_at: sql<Date>`coalesce(accepted_at, now())` })
      .where((eb) =>
        eb.or([
          eb('id', '=', id),
          eb(
            'id',
            '=',
            eb
              .selectFrom('evaluations as e')
              .select('e.baseline_id')
              .where('e.id', '=', id)
              .where('e.baseline_mode', '=', 'recorded'),
          ),
        ]),
      )
      .returning('id'),
  );
  if (!accepted.some((row) => row.id === id)) throw notFound('This evaluation');
  return accepted.find((row) => row.id !== id)?.id;
}

async function startRecorded(
  deps: WorkflowStarter & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
): Promise<void> {
  await getEvaluation(db.query, id)
    .then((row) => startEvaluationWorkflow(deps, toStored(row)))
    .catch(leaveToReconciliation(deps.log, { evaluation_id: id }));
}
