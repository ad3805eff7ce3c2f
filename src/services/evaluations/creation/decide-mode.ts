import {
  type BatchSettings,
  DEFAULT_MAX_WAIT_SECONDS,
  type EvaluationMode,
} from '../../../domain/batches/batch-mode.ts';
import { ApiError, invalidField } from '../../../domain/errors.ts';
import type { Models } from '../../../models/model.ts';

const DEFAULT_SETTINGS: BatchSettings = { max_wait: DEFAULT_MAX_WAIT_SECONDS, then: 'interactive' };

/** Why a model can't be called in batches; undefined if it can. */
function problemOf(models: Models, model: string): string | undefined {
  try {
    models.resolve(model);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.details?.[0]?.message ?? error.message;
  }
  return models.batches.problemOf(model);
}

/**
 * Whether a run calls its models in batches. Decided once, so that later changes of settings do not affect the run.
 * @param called the models that go into batches: the run's own and the judges', without fallback models, which are called one by one
 * @returns null if it does not
 * @throws ApiError `invalid_request` on `mode`, naming every model without batches
 */
export function decideMode(
  models: Models,
  {
    mode = 'interactive',
    batch = DEFAULT_SETTINGS,
  }: { mode?: EvaluationMode | undefined; batch?: BatchSettings | undefined },
  called: readonly string[],
): BatchSettings | null {
  if (mode === 'interactive') return null;
  const problems = [...new Set(called)].flatMap((model) => {
    const problem = problemOf(models, model);
    return problem === undefined ? [] : [`${model} can't be called in batches: ${problem}`];
  });
  if (called.length === 0) problems.push('no model is called: none of the evaluators uses one');
  if (problems.length === 0) return batch;
  if (mode === 'auto') return null;
  throw invalidField('mode', `must be "interactive" or "auto" because ${problems.join('; ')}`);
}
