import type { EvaluatorConfig } from '../evaluators/registry.ts';
import type { Models } from '../models/model.ts';
import type { RunSpec } from '../services/evaluations/results-store.ts';

const CHARACTERS_PER_TOKEN = 3;
const EXPECTED_OUTPUT_TOKENS = 500;
/** What stands around a rubric in a judge's prompt. */
const JUDGE_PROMPT_TOKENS = 300;
const EXPECTED_JUDGEMENT_TOKENS = 100;

function callUsd(models: Models, model: string, inputTokens: number, outputTokens: number): number {
  const price = models.priceOf(model);
  if (price === null) return 0;
  return (inputTokens * Number(price.input_per_million) + outputTokens * Number(price.output_per_million)) / 1e6;
}

/**
 * What one example is expected to cost before any has been seen, in US dollars, each judge included. Rather too much than
 * too little, since it is what a budget is kept by at first; without a known price 0.
 */
export function expectedCostUsd(models: Models, spec: RunSpec): number {
  const input = spec.template.length / CHARACTERS_PER_TOKEN;
  const output = spec.parameters.max_tokens ?? EXPECTED_OUTPUT_TOKENS;
  const judgeUsd = (config: EvaluatorConfig): number =>
    config.type === 'llm_judge'
      ? callUsd(
          models,
          config.model,
          JUDGE_PROMPT_TOKENS + config.rubric.length / CHARACTERS_PER_TOKEN + input + output,
          config.parameters.max_tokens ?? EXPECTED_JUDGEMENT_TOKENS,
        )
      : 0;
  return spec.evaluators.map(judgeUsd).reduce((sum, usd) => sum + usd, callUsd(models, spec.model, input, output));
}
