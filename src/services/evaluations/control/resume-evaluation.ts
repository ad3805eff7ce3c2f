import { Big } from 'big.js';
import type { WorkspaceDatabase } from '../../../db/database.ts';
import { inStates } from '../../../db/state-change.ts';
import { invalidField } from '../../../domain/errors.ts';
import { type EvaluationStatus, evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import type { Models } from '../../../models/model.ts';
import { isRunByCaller } from '../code/code-runs.ts';
import { checkBudget } from '../creation/create-evaluation.ts';
import { type EvaluationRow, getCurrentEvaluation } from '../evaluations.ts';
import { costOfRun } from '../run/costs.ts';
import { type ControlDeps, changeEvaluation, continueFrom, signalWorkflow } from './change-evaluation.ts';

/**
 * Resumes a paused run. If its budget is used up, it needs a higher cap. Also sets a new cap on a run that is not paused.
 * @param maxCost US dollars, decimal; null: no cap; undefined: unchanged
 * @throws ApiError `not_found`, `invalid_state`, and `invalid_request` if the new cap is not above the amount spent or cannot be enforced
 */
export async function resumeEvaluation(
  deps: ControlDeps & { models: Models },
  db: WorkspaceDatabase,
  id: string,
  maxCost: string | null | undefined,
): Promise<EvaluationRow> {
  const current = await getCurrentEvaluation(db, id);
  const from: EvaluationStatus[] = maxCost === undefined ? ['paused'] : ['paused', 'running', 'scheduled'];
  if (from.includes(current.status) && !isRunByCaller(current)) await checkCap(deps.models, db, current, maxCost);
  const row = await db.transaction((query) =>
    changeEvaluation(query, id, {
      ways: [
        ...continueFrom(['paused']),
        ...(maxCost === undefined ? [] : [{ where: inStates(evaluationStates, ['running', 'scheduled']) }]),
      ],
      set: { status_reason: null, ...(maxCost !== undefined && { max_cost: maxCost }) },
      from,
      isOfService: true,
      done: maxCost === undefined ? 'resumed' : 'given another max_cost',
      audit: ['evaluation.resumed', maxCost === undefined ? {} : { max_cost: maxCost }],
    }),
  );
  await signalWorkflow(deps, row);
  return getCurrentEvaluation(db, row.id);
}

async function checkCap(
  models: Models,
  db: WorkspaceDatabase,
  run: EvaluationRow,
  maxCost: string | null | undefined,
): Promise<void> {
  const called = run.source_evaluation_id === null ? [run.model, ...run.fallback_models] : [];
  if (typeof maxCost === 'string') checkBudget(models, called, run.evaluators);
  const cap = maxCost === undefined ? run.max_cost : maxCost;
  if (cap === null) return;
  const spent = new Big(await costOfRun(db.query, run.id));
  if (spent.gte(cap))
    throw invalidField('max_cost', `must be above what the run has cost so far, ${spent.toFixed()} USD`);
}
