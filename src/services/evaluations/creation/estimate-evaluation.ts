import { Big } from 'big.js';
import type { WorkspaceDatabase } from '../../../db/database.ts';
import { parsePrompt } from '../../../domain/prompts/prompt.ts';
import { callsPerExample, type ModelEvaluatorConfig, modelEvaluatorsOf } from '../../../evaluators/registry.ts';
import type { Models } from '../../../models/model.ts';
import { type NewEvaluation, resolveRun } from './create-evaluation.ts';
import { CHARACTERS_PER_TOKEN, expectedOutputTokens, judgeTokens } from './expected-tokens.ts';
import { type PastOutput, pastOutput } from './past-output.ts';
import { type FilledSample, fillSample, sampleExamples } from './sample-examples.ts';

/** The estimated size and cost of an evaluation. */
export interface EvaluationEstimate {
  examples: number;
  modelCalls: number;
  judgeCalls: number;
  /** Model and judges together. */
  tokens: { input: number; output: number };
  /** US dollars, decimal; null if a model has no known price. */
  costUsd: string | null;
  /** The savings of batches, in US dollars, decimal; null if calls are made one by one or the cost is unknown. */
  savingsUsd: string | null;
  /** How the estimate was calculated, in words. */
  basis: string;
}

/** Calls of one model. Tokens are the totals of all calls. */
interface Calls {
  model: string;
  calls: number;
  input: number;
  output: number;
  /** Whether they are made in batches; embeddings and comparisons are requested one by one. */
  isBatched: boolean;
}

function costOf(models: Pick<Models, 'priceOf'>, { model, calls, input, output }: Calls): Big | null {
  if (calls === 0) return new Big(0);
  const price = models.priceOf(model, input / calls);
  if (price === null) return null;
  return new Big(price.input_per_million)
    .times(input)
    .plus(new Big(price.output_per_million).times(output))
    .div(1e6)
    .plus(new Big(price.per_request ?? 0).times(calls));
}

/** Null if one of them is null. */
const sumOf = (costs: readonly (Big | null)[]) =>
  costs.reduce<Big | null>((sum, cost) => (sum === null || cost === null ? null : sum.plus(cost)), new Big(0));

const callsOf = (model: string, calls: number, each: { input: number; output: number }, isBatched: boolean): Calls => ({
  model,
  calls,
  input: Math.round(each.input * calls),
  output: Math.round(each.output * calls),
  isBatched,
});

const count = (number: number) => number.toLocaleString('en-US');

/**
 * Estimates what an evaluation would cost, without creating it. Uses a sample of its examples, so that it takes milliseconds.
 * @throws ApiError the same errors as creating it
 */
export async function estimateEvaluation(
  db: WorkspaceDatabase,
  models: Models,
  request: NewEvaluation,
): Promise<EvaluationEstimate> {
  const { promptName, parameters, content, includes, called, evaluators, batch, replayed, baseline } = await resolveRun(
    db.query,
    models,
    request,
  );
  const { total, variables } = await sampleExamples(db, replayed ?? request);
  const filled = await fillSample(parsePrompt(content, includes), content, variables);
  const past = await pastOutput(db.heavy.query, { promptName, model: called.model });
  const { max_tokens: maxTokens = Number.POSITIVE_INFINITY } = parameters;
  const output = past === undefined ? expectedOutputTokens(parameters) : Math.min(past.meanTokens, maxTokens);
  const modelCalls = filled.tried === 0 ? 0 : Math.round((total * filled.fitting) / filled.tried);
  const judges = modelEvaluatorsOf(evaluators);
  // Recorded outputs are scored, too.
  const judged = baseline.mode === 'recorded' ? 2 * modelCalls : modelCalls;
  const all = [
    callsOf(called.model, modelCalls, { input: filled.meanInputTokens, output }, batch !== null),
    ...judges.map((judge) => {
      const tokens = judgeTokens(judge, filled.meanInputTokens, output);
      return callsOf(
        judge.model,
        judged * callsPerExample(judge),
        tokens,
        batch !== null && judge.type === 'llm_judge',
      );
    }),
  ];
  const costs = all.map((each) => costOf(each.isBatched ? models.batches : models, each));
  const cost = sumOf(costs);
  const oneByOne = batch === null ? null : sumOf(all.map((each) => costOf(models, each)));
  const unpriced = all.filter((_, index) => costs[index] === null).map(({ model }) => model);
  return {
    examples: total,
    modelCalls,
    judgeCalls: judges.reduce((sum, judge) => sum + judged * callsPerExample(judge), 0),
    tokens: {
      input: all.reduce((sum, { input }) => sum + input, 0),
      output: all.reduce((sum, { output: tokens }) => sum + tokens, 0),
    },
    costUsd: cost === null ? null : cost.toFixed(),
    savingsUsd: cost === null || oneByOne === null ? null : oneByOne.minus(cost).toFixed(),
    basis: basisOf({
      request,
      isBatch: batch !== null,
      total,
      filled,
      past,
      output,
      maxTokens,
      model: called.model,
      judges,
      unpriced,
    }),
  };
}

interface Basis {
  request: NewEvaluation;
  isBatch: boolean;
  total: number;
  filled: FilledSample;
  past: PastOutput | undefined;
  output: number;
  maxTokens: number;
  model: string;
  judges: ModelEvaluatorConfig[];
  unpriced: string[];
}

function basisOf({ request, isBatch, total, filled, past, output, maxTokens, model, judges, unpriced }: Basis): string {
  const { tried, fitting } = filled;
  const sample = tried === total ? `all ${count(total)} examples` : `${count(tried)} of ${count(total)} examples`;
  const assumed = Number.isFinite(maxTokens) ? 'max_tokens' : 'an assumption, because it has not run on this model';
  const facts = [
    `Calls of ${model}, each example once, without retries and fallbacks.`,
    `Input tokens: the prompt filled with ${sample}, a token for every ${CHARACTERS_PER_TOKEN} characters.`,
    `Output tokens: ${count(Math.round(output))} a call, ${past === undefined ? assumed : `the mean of ${past.of}`}.`,
  ];
  if (fitting < tried)
    facts.push(`${count(tried - fitting)} of those examples do not fit the prompt: the model is not called for such.`);
  if (judges.some(({ type }) => type === 'llm_judge'))
    facts.push('Judges: the rubric, the prompt and the response as input, and max_tokens or 100 tokens as output.');
  if (judges.some(({ type }) => type === 'pairwise'))
    facts.push('Judges that compare: two calls for each example, each with the rubric, the prompt and both outputs.');
  if (judges.some(({ type }) => type === 'similar'))
    facts.push('Embeddings: the response, and as much again for the expected value if it is compared with that.');
  if (isBatch) facts.push('Prices: those of batches, as if all calls were answered in time.');
  if (request.reuse !== undefined)
    facts.push('Responses that can be reused are counted as calls, so the run can be cheaper.');
  if (unpriced.length > 0)
    facts.push(`The cost is unknown: ${[...new Set(unpriced)].join(' and ')} has no known price.`);
  return facts.join(' ');
}
