import type { Query } from '../../../db/database.ts';
import { now } from '../../../db/sql.ts';
import { asJson } from '../../../db/statement.ts';
import type { BatchSettings, EvaluationMode } from '../../../domain/batches/batch-mode.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import { evaluationStates } from '../../../domain/evaluations/evaluation-states.ts';
import { judgeModelsOf } from '../../../evaluators/registry.ts';
import type { Models } from '../../../models/model.ts';
import { resolveJudges } from '../../saved-evaluators/resolve-judges.ts';
import { isRunByCaller } from '../code/code-runs.ts';
import { getEvaluation } from '../evaluations.ts';
import { checkBudget, checkPairs } from './create-evaluation.ts';
import { decideMode } from './decide-mode.ts';
import type { SealedEvaluators } from './evaluator-secrets.ts';

export interface Rescoring {
  /** UUID of the new run. */
  id: string;
  sourceId: string;
  /** Default: those of the source, with their secrets. */
  sealed?: SealedEvaluators | undefined;
  /** Default: the source's. */
  threshold?: number | undefined;
  /** US dollars, decimal, for the judges. */
  maxCost?: string | undefined;
  /** How the judges are called. Default: `interactive`. */
  mode?: EvaluationMode | undefined;
  batch?: BatchSettings | undefined;
}

/** The columns that the new run shares with the run that is re-scored. */
const SAME = [
  'target',
  'prompt_name',
  'prompt_version',
  'content',
  'includes',
  'model',
  'provider',
  'fallback_models',
  'parameters',
  'dataset_name',
  'dataset_version',
  'examples_id',
  'examples_hash',
  'examples_total',
  'concurrency',
  'metadata',
  'evaluator_secrets',
  'example_threshold',
] as const;

/**
 * Stores a run that re-scores the outputs of a completed run without calling its model. Runs in the caller's transaction; the
 * evaluators were compiled before it.
 * @throws ApiError `not_found`, `invalid_state`, `invalid_request`
 */
export async function rescoreEvaluation(query: Query, models: Models, request: Rescoring): Promise<void> {
  const { id, sourceId } = request;
  const source = await getEvaluation(query, sourceId);
  if (source.status !== 'completed')
    throw new ApiError(
      'invalid_state',
      `This evaluation is ${source.status}: only a completed one can be scored again.`,
    );
  if (isRunByCaller(source) && request.sealed === undefined)
    throw invalidField('evaluators', 'is required because a program scored this evaluation');
  const evaluators = resolveJudges(models, request.sealed?.evaluators ?? source.evaluators);
  if (request.maxCost !== undefined) checkBudget(models, [], evaluators);
  const batch = decideMode(models, request, judgeModelsOf(evaluators));
  // The lock keeps the source, and with it its inline examples, until the new run shares them.
  const [same] = await query((db) => db.selectFrom('evaluations').select(SAME).where('id', '=', sourceId).forShare());
  if (same === undefined || same.examples_id === null)
    throw new ApiError('invalid_state', 'The dataset of this evaluation was deleted: it cannot be scored again.');
  await checkPairs(query, evaluators, same.examples_hash);
  await query((db) =>
    db.insertInto('evaluations').values({
      ...same,
      content: asJson(same.content),
      includes: asJson(same.includes),
      parameters: asJson(same.parameters),
      metadata: asJson(same.metadata),
      id,
      source_evaluation_id: sourceId,
      evaluators: asJson(evaluators),
      evaluator_secrets: request.sealed === undefined ? same.evaluator_secrets : request.sealed.secrets,
      threshold: request.threshold ?? source.threshold,
      baseline_mode: 'none',
      max_cost: request.maxCost ?? null,
      mode: request.mode ?? 'interactive',
      batch: asJson(batch),
      status: evaluationStates.initial,
      created_at: now,
    }),
  );
}
