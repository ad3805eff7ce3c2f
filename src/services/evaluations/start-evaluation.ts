import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { notFound } from '../../domain/errors.ts';
import { newId } from '../../domain/ids.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import { giveUp, startedOrWithdrawn, type Withdrawable } from '../acceptance/withdrawal.ts';
import type { Claim, IdempotencyKeys, RequestKey } from '../idempotency/idempotency-keys.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { toStored } from './create-evaluation.ts';
import { startEvaluationWorkflow, tellEvaluationWorkflow } from './evaluation-workflow.ts';
import { type EvaluationRow, getEvaluation } from './evaluations.ts';
import { withdrawEvaluation } from './withdraw-evaluation.ts';

/** Evaluations, as what a failed request withdraws. */
export const EVALUATION: Withdrawable = {
  field: 'evaluation_id',
  withdraw: withdrawEvaluation,
  stop: (client, id) => tellEvaluationWorkflow({ client }, { id, retries: 0 }),
};

export interface StoreEvaluationDeps extends Pick<WorkflowStarter, 'client'> {
  idempotency: Pick<IdempotencyKeys, 'claim'>;
  quotas: Pick<Quotas, 'require'>;
  log: Logger;
}

/**
 * Stores an evaluation, once for each `Idempotency-Key`; {@link startEvaluation} starts it. Where nobody knows whether it was stored,
 * since the reply of the database was lost, it is withdrawn.
 * @param store stores it with this id (UUID), in the transaction
 * @returns `beganAt`: when its creation began, as `performance.now()` gives it
 * @throws ApiError as `store` and `IdempotencyKeys.claim`, `quota_exceeded`
 */
export async function storeEvaluation(
  deps: StoreEvaluationDeps,
  db: WorkspaceDatabase,
  requestKey: RequestKey | undefined,
  store: (query: Query, id: string) => Promise<unknown>,
): Promise<Claim & { beganAt: number }> {
  const beganAt = performance.now();
  const id = newId();
  let mayBeStored = false;
  try {
    const claim = await deps.idempotency.claim(db, requestKey, async (query) => {
      await store(query, id);
      await deps.quotas.require(query, 'evaluations');
      mayBeStored = true;
      return { resourceId: id };
    });
    return { ...claim, beganAt };
  } catch (error) {
    if (mayBeStored) await giveUp(EVALUATION, deps, db, id, undefined);
    throw error;
  }
}

/**
 * Starts the workflow of a stored evaluation, or withdraws the evaluation, and marks it as one whose caller is told of it now: it runs
 * whatever happens.
 * @returns the evaluation as it was before
 * @throws ApiError `not_found` where it was withdrawn; else what kept the workflow from starting
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
