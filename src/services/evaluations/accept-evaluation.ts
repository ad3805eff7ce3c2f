import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { notFound } from '../../domain/errors.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { holdMsOf, withdrawOrGoOn } from '../acceptance/withdrawal.ts';
import type { StoredEvaluation } from './create-evaluation.ts';
import { startEvaluationWorkflow, tellEvaluationWorkflow } from './evaluation-workflow.ts';
import { withdrawEvaluation } from './withdraw-evaluation.ts';

/**
 * Starts the workflow, or withdraws the evaluation: a caller who is told that it failed can simply try again.
 * @throws what kept the workflow from starting
 */
export async function startOrWithdrawEvaluation(
  deps: WorkflowStarter,
  db: WorkspaceDatabase,
  evaluation: StoredEvaluation,
): Promise<void> {
  try {
    await startEvaluationWorkflow(deps, evaluation);
  } catch (error) {
    if (await withdrawEvaluation(db, evaluation.id, false)) throw error;
  }
}

/**
 * Marks an evaluation as one whose caller is told of it now: it runs whatever happens.
 * @throws ApiError `not_found` where it was withdrawn
 */
export async function acceptEvaluation(db: WorkspaceDatabase, id: string): Promise<void> {
  const accepted = await db.query((own) =>
    own
      .updateTable('evaluations')
      .set({ accepted_at: sql<Date>`coalesce(accepted_at, now())` })
      .where('id', '=', id)
      .returning('id'),
  );
  if (accepted.length === 0) throw notFound('This evaluation');
}

/**
 * Makes sure, before its caller is told that it failed, that an evaluation does not run later.
 * @param beganAt as for {@link holdMsOf}
 */
export async function giveUpEvaluation(
  { client, log }: Pick<WorkflowStarter, 'client'> & { log: Logger },
  db: WorkspaceDatabase,
  id: string,
  beganAt: number | undefined,
): Promise<void> {
  // Without a start of its own, whoever was told of it is another request with the same Idempotency-Key.
  const withdraw = () => withdrawEvaluation(db, id, beganAt !== undefined);
  await withdrawOrGoOn(log, { field: 'evaluation_id', id, withdraw }, holdMsOf(beganAt));
  tellEvaluationWorkflow({ client }, { id, retries: 0 }).catch((error: unknown) =>
    log.warn({ err: error, evaluation_id: id }, 'cannot tell a workflow that its run was withdrawn'),
  );
}
