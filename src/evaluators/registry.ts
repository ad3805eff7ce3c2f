import { z } from 'zod';
import { passes, roundScore } from '../domain/evaluations/scoring.ts';
import {
  type Comparison,
  type EmbeddingEvaluator,
  type EndpointEvaluator,
  type Judge,
  type Judgement,
  type JudgingEvaluator,
  type OptionFault,
  type PairEvaluator,
  type PairJudge,
  type Score,
  type ScoredExample,
  type ScoringEndpoint,
  ScoringError,
  type ScoringEvaluator,
  unscored,
} from './evaluator.ts';
import { EvaluatorName, SavedVersion, Weight } from './fields.ts';
import { MAX_OUTPUT_LENGTH, shorten } from './matching/text.ts';
import { contains } from './types/contains.ts';
import { cost } from './types/cost.ts';
import { exactMatch } from './types/exact-match.ts';
import { http } from './types/http.ts';
import { jsonMatch } from './types/json-match.ts';
import { jsonSchema } from './types/json-schema.ts';
import { jsonValid } from './types/json-valid.ts';
import { latency } from './types/latency.ts';
import { length } from './types/length.ts';
import { levenshtein } from './types/levenshtein.ts';
import { llmJudge } from './types/llm-judge.ts';
import { numeric } from './types/numeric.ts';
import { pairwise } from './types/pairwise.ts';
import { regex } from './types/regex.ts';
import { similar } from './types/similar.ts';
import { toolCalls } from './types/tool-calls.ts';

/** Every type of evaluator, in listing order. */
const EVALUATORS = [
  exactMatch,
  contains,
  regex,
  jsonValid,
  jsonSchema,
  jsonMatch,
  numeric,
  levenshtein,
  length,
  toolCalls,
  latency,
  cost,
  similar,
  llmJudge,
  pairwise,
  http,
] as const;

const [first, ...others] = EVALUATORS;

/** One evaluator and its options, as in `POST /evaluations`. `evaluatorFault` validates expressions and schemas inside it. */
export const EvaluatorConfig = z
  .discriminatedUnion('type', [first.config, ...others.map(({ config }) => config)])
  .meta({ id: 'EvaluatorOptions' });

export type EvaluatorConfig = z.output<typeof EvaluatorConfig>;

/** An evaluator that gets a grade from a model. */
export type JudgeConfig = Extract<EvaluatorConfig, { type: 'llm_judge' }>;
/** An evaluator that compares two outputs. */
export type PairConfig = Extract<EvaluatorConfig, { type: 'pairwise' }>;
/** An evaluator that calls a model, for a grade, a preference or embeddings. */
export type ModelEvaluatorConfig = JudgeConfig | PairConfig | Extract<EvaluatorConfig, { type: 'similar' }>;

/** The evaluators that get a grade from a model, which also works in batches. */
export function judgesOf(evaluators: readonly EvaluatorConfig[]): JudgeConfig[] {
  return evaluators.filter((config): config is JudgeConfig => config.type === 'llm_judge');
}

/** The models that they call. */
export function judgeModelsOf(evaluators: readonly EvaluatorConfig[]): string[] {
  return judgesOf(evaluators).map(({ model }) => model);
}

/** The evaluators that call a model. */
export function modelEvaluatorsOf(evaluators: readonly EvaluatorConfig[]): ModelEvaluatorConfig[] {
  return evaluators.filter(callsModel);
}

/** The models that they call. */
export function evaluatorModelsOf(evaluators: readonly EvaluatorConfig[]): string[] {
  return modelEvaluatorsOf(evaluators).map(({ model }) => model);
}

export function callsModel(config: EvaluatorConfig): config is ModelEvaluatorConfig {
  return config.type === 'llm_judge' || config.type === 'pairwise' || config.type === 'similar';
}

/** The number of calls for an example. */
export const callsPerExample = ({ type }: ModelEvaluatorConfig): number => (type === 'pairwise' ? 2 : 1);

/** A saved evaluator, by its name. */
export const SavedReference = z
  .strictObject({
    type: z.literal('saved'),
    name: EvaluatorName.meta({ description: 'The name of the saved evaluator, and of its scores.' }),
    version: SavedVersion.optional().meta({ description: 'Default: the newest version.' }),
    weight: Weight.optional().meta({ description: 'Default: the weight of the saved evaluator.' }),
  })
  .meta({ id: 'SavedEvaluatorReference', description: 'A saved evaluator. Requires the scope `read`.' });

/** An evaluator in a request: its options, or the name of a saved one. */
export const GivenEvaluator = z
  .discriminatedUnion('type', [...EvaluatorConfig.options, SavedReference])
  .meta({ id: 'Evaluator' });

export type GivenEvaluator = z.output<typeof GivenEvaluator>;

const listOf = <Config extends z.ZodType<{ name: string }>>(config: Config) =>
  z
    .array(config)
    .min(1)
    .max(10)
    .superRefine((configs, context) => {
      const firstOfName = new Map<string, number>();
      configs.forEach(({ name }, index) => {
        const first = firstOfName.get(name);
        if (first === undefined) {
          firstOfName.set(name, index);
        } else {
          const message = `evaluator ${first} already has the name "${name}": use a unique name for each evaluator`;
          context.addIssue({ code: 'custom', path: [index, 'name'], message });
        }
      });
    });

/** 1–10 evaluators with unique names. */
export const EvaluatorList = listOf(EvaluatorConfig);
/** The same in a request. */
export const GivenEvaluators = listOf(GivenEvaluator);

/** `evaluators` of `POST /evaluations`; defaults to `exact_match`. */
export const EvaluatorsSchema = GivenEvaluators.prefault([{ type: 'exact_match' }]);

interface Prepared {
  name: string;
  type: EvaluatorConfig['type'];
  weight: number;
}

/** Scores from the texts only. Never throws: a failure is a score of 0 with a `problem`. */
export interface PreparedScoring extends Prepared {
  kind: 'scoring';
  score(example: ScoredExample): Score;
}

/**
 * Scores with one call to a model, which the caller makes: `request`, the call, `read`; repeated once if the response is not usable.
 */
export interface PreparedJudging extends Prepared, Judge {
  kind: 'judging';
}

/** Scores with one call for embeddings, which the caller makes: `request`, the call, `read`. */
export interface PreparedComparison extends Prepared, Comparison {
  kind: 'embedding';
}

/** Scores with two calls to a model, which the caller makes: for each order `request`, the call, `read`; then `combine`. */
export interface PreparedPair extends Prepared, PairJudge {
  kind: 'pair';
}

/** Scores with one request to a user's endpoint, which the caller makes: `request`, the request, `read`. */
export interface PreparedEndpoint extends Prepared, ScoringEndpoint {
  kind: 'endpoint';
}

export type PreparedEvaluator =
  | PreparedScoring
  | PreparedJudging
  | PreparedComparison
  | PreparedPair
  | PreparedEndpoint;

type Evaluator =
  | ScoringEvaluator<EvaluatorConfig>
  | JudgingEvaluator<EvaluatorConfig>
  | EmbeddingEvaluator<EvaluatorConfig>
  | PairEvaluator<EvaluatorConfig>
  | EndpointEvaluator<EvaluatorConfig>;

const BY_TYPE = new Map<string, Evaluator>(EVALUATORS.map((each) => [each.config.shape.type.value, each]));

/** The evaluator for a config: it only ever receives configs of its own type. */
function evaluatorOf({ type }: Pick<EvaluatorConfig, 'type'>): Evaluator {
  const evaluator = BY_TYPE.get(type);
  if (evaluator === undefined) throw new Error(`There is no evaluator ${type}.`);
  return evaluator;
}

/** Whether an evaluator scores without calling a model or an endpoint. */
export function scoresByItself(config: Pick<EvaluatorConfig, 'type'>): boolean {
  return evaluatorOf(config).kind === 'scoring';
}

/** Whether an evaluator requires an expected value, or the output of another evaluation. */
export function needsExpected(config: EvaluatorConfig): boolean {
  const evaluator = evaluatorOf(config);
  return evaluator.kind === 'pair' || (evaluator.kind === 'scoring' && (evaluator.needsExpected?.(config) ?? false));
}

/** The categories that an evaluator can return in addition to a number; undefined if none. */
export function categoriesOf(config: EvaluatorConfig): string[] | undefined {
  return config.type === 'llm_judge' ? config.categories?.map(({ value }) => value) : undefined;
}

/** Whether an evaluator's scores are only 0 and 1, because of its type or its threshold. */
export function isPassOrFail(config: EvaluatorConfig): boolean {
  if (config.threshold !== undefined) return true;
  const evaluator = evaluatorOf(config);
  const isScoreOf = evaluator.kind === 'scoring' || evaluator.kind === 'judging';
  return isScoreOf && (evaluator.isPassOrFail?.(config) ?? false);
}

/** Whether an evaluator runs code from a caller: an expression, a schema. */
export function runsCallersCode(config: Pick<EvaluatorConfig, 'type'>): boolean {
  const evaluator = evaluatorOf(config);
  return evaluator.kind === 'scoring' && evaluator.fault !== undefined;
}

/**
 * Why an evaluator's expression or schema can't be used. Compiling it takes any time: call this only in a thread that can be
 * terminated.
 */
export function evaluatorFault(config: EvaluatorConfig): OptionFault | null {
  const evaluator = evaluatorOf(config);
  return evaluator.kind === 'scoring' ? (evaluator.fault?.(config) ?? null) : null;
}

/**
 * Prepares an evaluator for a run. Code from a caller is compiled, and both this and `score` may then take any time: call them
 * only in a thread that can be terminated.
 */
export function prepareEvaluator(config: EvaluatorConfig): PreparedEvaluator {
  const evaluator = evaluatorOf(config);
  const { name, type, weight } = config;
  switch (evaluator.kind) {
    case 'scoring':
      return prepareScoring(config, evaluator);
    case 'judging': {
      const judge = evaluator.prepare(config);
      const read = (response: string) => adjustedJudgement(config, judge.read(response));
      return { kind: 'judging', name, type, weight, ...judge, read };
    }
    case 'embedding': {
      const { model, request, read } = evaluator.prepare(config);
      return {
        kind: 'embedding',
        name,
        type,
        weight,
        model,
        request(example) {
          const requested = request(example);
          return 'score' in requested ? adjusted(config, requested) : requested;
        },
        read: (response) => adjustedJudgement(config, read(response)),
      };
    }
    case 'pair': {
      const pair = evaluator.prepare(config);
      return {
        kind: 'pair',
        name,
        type,
        weight,
        ...pair,
        known(example) {
          const known = pair.known(example);
          return known && adjusted(config, known);
        },
        combine: (given, swapped) => adjusted(config, pair.combine(given, swapped)),
      };
    }
    case 'endpoint': {
      const endpoint = evaluator.prepare(config);
      const read = (response: string) => adjusted(config, endpoint.read(response));
      return { kind: 'endpoint', name, type, weight, ...endpoint, read };
    }
  }
}

/** Applies `threshold` and `negate` to a score. A score that does not assess the output is unchanged. */
function adjusted({ threshold, negate = false }: EvaluatorConfig, given: Score): Score {
  if (given.problem !== null || (threshold === undefined && !negate)) return given;
  const isPass = threshold !== undefined && passes(given.score, threshold);
  const counted = threshold === undefined ? given.score : Number(isPass);
  const score = roundScore(negate ? 1 - counted : counted);
  if (score === 1) return { ...given, score, reason: negate ? null : given.reason };
  const limit = threshold === undefined || isPass ? undefined : `the score of ${given.score} is below ${threshold}`;
  const why = [limit, given.reason].filter((part) => part != null).join(': ');
  return { ...given, score, reason: shorten(why || 'the condition is met, but must not be', 500) };
}

function adjustedJudgement(config: EvaluatorConfig, judgement: Judgement): Judgement {
  return judgement.usable ? { usable: true, score: adjusted(config, judgement.score) } : judgement;
}

function prepareScoring(config: EvaluatorConfig, evaluator: ScoringEvaluator<EvaluatorConfig>): PreparedScoring {
  let prepared: ReturnType<typeof evaluator.prepare> | undefined;
  try {
    prepared = evaluator.prepare(config);
  } catch {
    // It was valid when it was created. Each example gets the problem.
  }
  return {
    kind: 'scoring',
    name: config.name,
    type: config.type,
    weight: config.weight,
    score(example) {
      if (prepared === undefined)
        return unscored('evaluator_error', 'the expression or schema can no longer be compiled');
      if (example.output.length > MAX_OUTPUT_LENGTH) {
        return unscored('too_large', `the output is longer than ${MAX_OUTPUT_LENGTH} characters and was not examined`);
      }
      try {
        return adjusted(config, prepared(example));
      } catch (error) {
        if (error instanceof ScoringError) return unscored(error.code, error.message);
        return unscored('evaluator_error', `the evaluator failed (${error instanceof Error ? error.name : 'unknown'})`);
      }
    },
  };
}
