import { ApiError, invalidField } from '../../domain/errors.ts';
import { callsModel, type EvaluatorConfig } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';

/** The evaluators with the full names of their models, checked to be callable. @param at path of one in the request */
export function resolveJudges(
  models: Models,
  evaluators: EvaluatorConfig[],
  at = (index: number) => `evaluators.${index}`,
): EvaluatorConfig[] {
  return evaluators.map((config, index) => {
    if (!callsModel(config)) return config;
    const { type, model } = config;
    try {
      return { ...config, model: (type === 'similar' ? models.resolveEmbedding(model) : models.resolve(model)).model };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw invalidField(`${at(index)}.model`, error.details?.[0]?.message ?? error.message);
    }
  });
}
