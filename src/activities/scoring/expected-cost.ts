import { callsPerExample, type ModelEvaluatorConfig, modelEvaluatorsOf } from '../../evaluators/registry.ts';
import type { Models } from '../../models/model.ts';
import {
  expectedOutputTokens,
  judgeTokens,
  promptTokens,
} from '../../services/evaluations/creation/expected-tokens.ts';
import type { RunSpec } from '../../services/evaluations/creation/run-spec.ts';

/** The expected cost of one example before any has run. */
export interface ExpectedCost {
  /** US dollars including all judges, with the most expensive of the run's models, because any of them may have to respond. */
  totalUsd: number;
  /** The share of the call to a model of the run, 0..1. */
  shareOf(model: string): number;
  /**
   * How many times more an example costs with the most expensive model than with this one, judges included; null if it costs
   * nothing with this one but something with the most expensive.
   */
  ratioToMostExpensive(model: string): number | null;
  /** The shares of the judges, by name. */
  judgeShares: ReadonlyMap<string, number>;
}

/** The cost of a call in US dollars; 0 without a known price. */
export function callUsd(
  models: Pick<Models, 'priceOf'>,
  model: string,
  inputTokens: number,
  outputTokens: number,
): number {
  const price = models.priceOf(model, inputTokens);
  if (price === null) return 0;
  return (inputTokens * Number(price.input_per_million) + outputTokens * Number(price.output_per_million)) / 1e6;
}

/** Errs on the high side because a budget relies on it at first. A call without a known price counts as 0. */
export function expectedCost(models: Models, spec: RunSpec): ExpectedCost {
  const input = promptTokens(spec);
  const output = expectedOutputTokens(spec.parameters);
  const chain = [spec.model, ...spec.fallbackModels];
  const isCalled = spec.sourceEvaluationId === null;
  const modelUsd = new Map(chain.map((model) => [model, isCalled ? callUsd(models, model, input, output) : 0]));
  const judgesUsd = new Map<string, number>();
  for (const config of modelEvaluatorsOf(spec.evaluators)) judgesUsd.set(config.name, judgeUsd(config));

  function judgeUsd(config: ModelEvaluatorConfig): number {
    const tokens = judgeTokens(config, input, output);
    return callsPerExample(config) * callUsd(models, config.model, tokens.input, tokens.output);
  }

  const allJudgesUsd = [...judgesUsd.values()].reduce((sum, usd) => sum + usd, 0);
  const totalUsd = allJudgesUsd + Math.max(...modelUsd.values());
  const shareOf = (usd: number) => (totalUsd === 0 ? 0 : usd / totalUsd);
  return {
    totalUsd,
    shareOf: (model) => shareOf(modelUsd.get(model) ?? 0),
    ratioToMostExpensive(model) {
      const usd = allJudgesUsd + (modelUsd.get(model) ?? 0);
      if (usd === totalUsd) return 1;
      return usd === 0 ? null : totalUsd / usd;
    },
    judgeShares: new Map([...judgesUsd].map(([name, usd]) => [name, shareOf(usd)])),
  };
}
