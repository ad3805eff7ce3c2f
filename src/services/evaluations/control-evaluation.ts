import { Big } from 'big.js';
import type { Logger } from 'pino';
import type { WorkspaceDatabase } from '../../db/database.ts';
import { ApiError, invalidField } from '../../domain/errors.ts';
import {
  ENDED_EVALUATION,
  type EvaluationStatus,
  evaluationStates,
  UNFINISHED_EVALUATION,
} from '../../domain/evaluation-states.ts';
import type { Models } from '../../models/model.ts';
import type { WorkflowStarter } from '../../temporal/workflows.ts';
import type { Quotas } from '../workspaces/quotas.ts';
import { costOfRun } from './costs.ts';
import { checkBudget } from './create-evaluation.ts';
import { startEvaluationWorkflow, tellEvaluationWorkflow } from './evaluation-workflow.ts';
import { EVALUATION_COLUMNS, type EvaluationRow, getCurrentEvaluation, getEvaluation, UNTOLD } from './evaluations.ts';

export type ControlDeps = WorkflowStarter & { log: Logger };

/** A change of state; without `set`, the state stays. */
interface Way {
  set?: string;
  where: string;
}

interface Change {
  /** Tried in turn until the row is in one of its states. */
  ways: Way[];
  /** SQL of what is set besides, with `$3` and on for `values`. */
  set: string;
  values?: unknown[];
  /** The states that it can be done in, for the refusal. */
  from: readonly EvaluationStatus[];
  /** What the caller wanted to do, for the refusal: `paused`. */
  done: string;
}

/**
 * The row is `untold` until its workflow reads it. Whether it was told is looked at soon, also where the process dies now.
 * @throws ApiError `not_found`, `invalid_state`
 */
async function changeRow(db: WorkspaceDatabase, id: string, change: Change): Promise<EvaluationRow> {
  const current = await getEvaluation(db.query, id);
  for (const way of change.ways) {
    const set = [way.set, change.set, UNTOLD].filter((part) => part !== undefined).join(', ');
    const [row] = await db.query<EvaluationRow>(
      {
        text: `update evaluations set ${set} where workspace_id = $1 and id = $2 and ${way.where}
               returning ${EVALUATION_COLUMNS}`,
      },
      [current.id, ...(change.values ?? [])],
    );
    if (row) return row;
  }
  const { status } = await getEvaluation(db.query, id);
  throw new ApiError(
    'invalid_state',
    `This evaluation is ${status}: only one that is ${change.from.join(' or ')} can be ${change.done}.`,
  );
}

/** One that was paused, or that ended, before it was due goes back to waiting. */
function goOn(from: readonly ('paused' | (typeof ENDED_EVALUATION)[number])[]): Way[] {
  const running = evaluationStates.change({ to: 'running', from });
  const scheduled = evaluationStates.change({ to: 'scheduled', from: from.filter((status) => status !== 'completed') });
  return [
    { ...running, where: `${running.where} and started_at is not null` },
    { ...scheduled, where: `${scheduled.where} and started_at is null` },
  ];
}

/** The row says what is wanted, so a workflow that can't be told now learns of it later (`reconcileEvaluations`). */
async function tell(deps: ControlDeps, row: EvaluationRow): Promise<void> {
  try {
    await tellEvaluationWorkflow(deps, row);
  } catch (error) {
    deps.log.warn(
      { err: error, evaluation_id: row.id },
      'cannot tell the workflow of an evaluation; it will be told later',
    );
  }
}

/** Begins no more examples; those in flight end. */
export async function pauseEvaluation(deps: ControlDeps, db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await changeRow(db, id, {
    ways: [evaluationStates.change({ to: 'paused' })],
    set: `status_reason = 'paused by request'`,
    from: ['scheduled', 'running'],
    done: 'paused',
  });
  await tell(deps, row);
  return getCurrentEvaluation(db, row.id);
}

/**
 * Goes on. A run whose budget is used up needs a higher cap. With a new cap, also one that has not paused yet is given it.
 * @param maxCost US dollars, decimal; null: no cap any more; undefined: the one it has
 * @throws ApiError `not_found`, `invalid_state`, and `invalid_request` where the new cap is not above what has been spent
 * or can't be kept
 */
export async function resumeEvaluation(
  deps: ControlDeps & { models: Models },
  db: WorkspaceDatabase,
  id: string,
  maxCost: string | null | undefined,
): Promise<EvaluationRow> {
  const current = await getCurrentEvaluation(db, id);
  const from: EvaluationStatus[] = maxCost === undefined ? ['paused'] : ['paused', 'running', 'scheduled'];
  if (from.includes(current.status)) await checkCap(deps.models, db, current, maxCost);
  const row = await changeRow(db, id, {
    ways: [
      ...goOn(['paused']),
      ...(maxCost === undefined ? [] : [{ where: evaluationStates.in(['running', 'scheduled']) }]),
    ],
    set: `status_reason = null, max_cost = case when $3::boolean then $4::numeric else max_cost end`,
    values: [maxCost !== undefined, maxCost ?? null],
    from,
    done: maxCost === undefined ? 'resumed' : 'given another max_cost',
  });
  await tell(deps, row);
  return getCurrentEvaluation(db, row.id);
}

async function checkCap(
  models: Models,
  db: WorkspaceDatabase,
  run: EvaluationRow,
  maxCost: string | null | undefined,
): Promise<void> {
  if (typeof maxCost === 'string') checkBudget(models, run.model, run.evaluators);
  const cap = maxCost === undefined ? run.max_cost : maxCost;
  if (cap === null) return;
  const spent = new Big(await costOfRun(db.query, run.id));
  if (spent.gte(cap))
    throw invalidField('max_cost', `must be above what the run has cost so far, ${spent.toFixed()} USD`);
}

/** Ends a run; calls in flight are given up, results so far stay. */
export async function cancelEvaluation(deps: ControlDeps, db: WorkspaceDatabase, id: string): Promise<EvaluationRow> {
  const row = await changeRow(db, id, {
    ways: [evaluationStates.change({ to: 'canceled' })],
    set: 'status_reason = null, finished_at = now()',
    from: UNFINISHED_EVALUATION,
    done: 'canceled',
  });
  await tell(deps, row);
  return getCurrentEvaluation(db, row.id);
}

/**
 * Runs the failed examples of an ended evaluation again, and those that were not reached. What has a score stays.
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
  const [examples] = await db.query<{ there: boolean }>(
    { text: 'select examples_id is not null as there from evaluations where workspace_id = $1 and id = $2' },
    [before.id],
  );
  if (examples?.there !== true)
    throw new ApiError('invalid_state', 'The dataset of this evaluation was deleted: there are no examples to retry.');
  const row = await db.transaction(async (query) => {
    const changed = await changeRow({ ...db, query }, id, {
      ways: goOn(ENDED_EVALUATION),
      set: `status_reason = null, error = null, finished_at = null, score = null, scores_by_evaluator = null, regressions = null, improvements = null,
          retries = retries + 1`,
      from: ENDED_EVALUATION,
      done: 'retried',
    });
    await deps.quotas.require(query, 'evaluations');
    return changed;
  });
  deps.log.info({ evaluation_id: row.id, evaluated, failed }, 'retrying an evaluation');
  await startEvaluationWorkflow(deps, {
    id: row.id,
    workspaceId: db.workspaceId,
    promptName: row.prompt_name,
    promptVersion: row.prompt_version,
    model: row.model,
    retries: row.retries,
  }).catch((error: unknown) => {
    // The row says that it runs: the workflow is started as soon as Temporal is back.
    deps.log.warn(
      { err: error, evaluation_id: row.id },
      'cannot start the workflow of an evaluation; it will be started later',
    );
  });
  return getCurrentEvaluation(db, row.id);
}
