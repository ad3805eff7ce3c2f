import type { EvaluatorConfig } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import type { RunSpec } from '../../services/evaluations/run-spec.ts';

const CHARACTERS_PER_TOKEN = 3;
const EXPECTED_OUTPUT_TOKENS = 500;
/** The text around a rubric in a judge's prompt. */
const JUDGE_PROMPT_TOKENS = 300;
const EXPECTED_JUDGEMENT_TOKENS = 100;

/** What one example is expected to cost before any has been seen. */
export interface ExpectedCost {
  /** US dollars, each judge included. */
  totalUsd: number;
  /** The share of the call to the model; 0..1. */
  modelShare: number;
  /** The shares of the judges, by name. */
  judgeShares: ReadonlyMap<string, number>;
}

function callUsd(models: Models, model: string, inputTokens: number, outputTokens: number): number {
  const price = models.priceOf(model);
  if (price === null) return 0;
  return (inputTokens * Number(price.input_per_million) + outputTokens * Number(price.output_per_million)) / 1e6;
}

/** Errs on the high side, since a budget is kept by it at first. A call without a known price counts 0. */
export function expectedCost(models: Models, spec: RunSpec): ExpectedCost {
  const input = spec.template.length / CHARACTERS_PER_TOKEN;
  const output = spec.parameters.max_tokens ?? EXPECTED_OUTPUT_TOKENS;
  const modelUsd = callUsd(models, spec.model, input, output);
  const judgesUsd = new Map<string, number>();
  for (const config of spec.evaluators) if (config.type === 'llm_judge') judgesUsd.set(config.name, judgeUsd(config));

  function judgeUsd(config: Extract<EvaluatorConfig, { type: 'llm_judge' }>): number {
    const inputTokens = JUDGE_PROMPT_TOKENS + config.rubric.length / CHARACTERS_PER_TOKEN + input + output;
    return callUsd(models, config.model, inputTokens, config.parameters.max_tokens ?? EXPECTED_JUDGEMENT_TOKENS);
  }

  const totalUsd = [...judgesUsd.values()].reduce((sum, usd) => sum + usd, modelUsd);
  const shareOf = (usd: number) => (totalUsd === 0 ? 0 : usd / totalUsd);
  return {
    totalUsd,
    modelShare: shareOf(modelUsd),
    judgeShares: new Map([...judgesUsd].map(([name, usd]) => [name, shareOf(usd)])),
  };
}
