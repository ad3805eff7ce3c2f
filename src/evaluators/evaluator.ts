import type { z } from 'zod';
import { roundScore } from '../domain/evaluations/scoring.ts';
import type { ToolCall } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { isJsonValue, jsonFault } from './matching/json.ts';
import { shorten } from './matching/text.ts';

/** The view of an executed example that an evaluator gets. */
export interface Example {
  /** The model's response. */
  output: string;
  /** The tool calls that it requests. */
  toolCalls: readonly ToolCall[];
  /** The expected output; undefined if the example has none (null is a value). */
  expected: JsonValue | undefined;
  variables: Readonly<Record<string, JsonValue>>;
  /** The filled prompt in readable form. */
  input: string;
  /** The duration of the call that produced the output; null if unknown. */
  modelMs: number | null;
  /** The cost of the output in US dollars, decimal; null if unknown. */
  costUsd: string | null;
  metadata?: Readonly<Record<string, JsonValue>>;
  /** The steps of a trace in words, if a trace is scored. */
  steps?: string | undefined;
  /** For an evaluator that compares with another run: its output for this example; undefined if it has none. */
  other?: string | undefined;
}

/**
 * Why an example could not be scored. The cause is the example, the evaluator's options or the service called, not the quality of
 * the output. It then counts 0, or is not a score at all ({@link isNoScore}): `missing_expected` the example has no `expected` that
 * this evaluator could use; `not_measured` the measured value, such as cost or latency, is unknown; `too_large` a text or value
 * exceeds the limits; `timed_out` the evaluators took too long on this output; `unusable_judgement` the judge's response held no
 * usable score, even when called again; `unusable_response` the response of the caller's scorer held no usable score;
 * `evaluator_error` the evaluator itself failed.
 */
export type ScoreProblem =
  | 'missing_expected'
  | 'not_measured'
  | 'too_large'
  | 'timed_out'
  | 'unusable_judgement'
  | 'unusable_response'
  | 'evaluator_error';

/** Problems of judges and scorers that returned no usable answer. */
const NO_ANSWER: ReadonlySet<ScoreProblem | null> = new Set(['unusable_judgement', 'unusable_response'] as const);

/** Whether it is not a score and not part of any mean, because the judge or scorer did not assess the output. */
export const isNoScore = ({ problem }: Pick<Score, 'problem'>): boolean => NO_ANSWER.has(problem);

/** An evaluator's verdict on one example. */
export interface Score {
  /** 0..1, rounded to six decimals. */
  score: number;
  /** The problem in plain words, at most 500 characters; null if there is none. */
  reason: string | null;
  /** The category of a judge with categories, which the score stands for. */
  category?: string;
  /** Null if the score assesses the output. */
  problem: ScoreProblem | null;
}

/** Thrown inside an evaluator if an example can't be scored; `prepareEvaluator` turns it into a score of 0. */
export class ScoringError extends Error {
  readonly code: ScoreProblem;

  constructor(code: ScoreProblem, message: string) {
    super(message);
    this.name = 'ScoringError';
    this.code = code;
  }
}

/** A request to a judge. */
export interface JudgeRequest {
  /** The whole prompt. */
  input: string;
  parameters: ModelParameters;
}

/**
 * The parsed response of a judge: a score, or why it holds none (calling again may help). `reason` is for people, `fault` for the judge:
 * it quotes nothing, because the response may repeat parts of the judged output.
 */
export type Judgement = { usable: true; score: Score } | { usable: false; reason: string; fault: string };

/** The input of an evaluator without requests. */
export type ScoredExample = Pick<Example, 'output' | 'expected'> &
  Partial<Pick<Example, 'toolCalls' | 'modelMs' | 'costUsd'>>;

/** The problem with an option that is code: an expression, a schema. */
export interface OptionFault {
  option: string;
  message: string;
}

/** An evaluator that computes the score from the texts only. */
export interface ScoringEvaluator<Config> {
  kind: 'scoring';
  config: z.ZodType<Config>;
  /**
   * Checks options that are code, which the schema of the options cannot validate: compiling may take any time, so this and
   * `prepare` are only called in threads that can be terminated.
   */
  fault?(config: Config): OptionFault | null;
  /**
   * Does the work needed once per run (compiling an expression or a schema). The returned function may throw `ScoringError` or
   * anything else: `prepareEvaluator` catches it.
   */
  prepare(config: Config): (example: ScoredExample) => Score;
  /** Whether its scores are only 0 and 1. Default: any value between. */
  isPassOrFail?(config: Config): boolean;
  /** Whether it requires an expected value. Default: no. */
  needsExpected?(config: Config): boolean;
}

/**
 * An evaluator that needs one call to a model. Request and reading are separate, so that the response can be recorded in
 * between and is never paid for twice. Neither throws.
 */
export interface JudgingEvaluator<Config> {
  kind: 'judging';
  config: z.ZodType<Config>;
  prepare(config: Config): Judge;
  /** Whether its scores are only 0 and 1. Default: any value between. */
  isPassOrFail?(config: Config): boolean;
}

export interface Judge {
  /** The model to call, named as in prompts. */
  model: string;
  /** @param fault of the previous response to the same request */
  request(example: Example, fault?: string): JudgeRequest;
  read(response: string): Judgement;
}

/**
 * An evaluator that needs one call for embeddings to compare the output with other texts. Neither `request` nor `read` throws.
 */
export interface EmbeddingEvaluator<Config> {
  kind: 'embedding';
  config: z.ZodType<Config>;
  prepare(config: Config): Comparison;
}

/** `swapped`: the other output comes first. */
export const PAIR_ORDERS = ['given', 'swapped'] as const;
export type PairOrder = (typeof PAIR_ORDERS)[number];

/** An evaluator that compares the output with another one by two calls to a model, one for each order. None of its functions throws. */
export interface PairEvaluator<Config> {
  kind: 'pair';
  config: z.ZodType<Config>;
  prepare(config: Config): PairJudge;
}

export interface PairJudge {
  /** The model to call, named as in prompts. */
  model: string;
  /** UUID of the evaluation whose outputs are the others; undefined: the expected values are. */
  against: string | undefined;
  /** The score if there is nothing to compare. */
  known(example: Example): Score | undefined;
  /** @param fault of the previous response to the same request */
  request(example: Example, order: PairOrder, fault?: string): JudgeRequest;
  /** 1 if it prefers the output, 0 if it prefers the other, 0.5 for a tie. */
  read(response: string, order: PairOrder): Judgement;
  /** The score from those of both orders. */
  combine(given: Score, swapped: Score): Score;
}

/** A text, and the texts to compare it with. */
export interface ComparedTexts {
  text: string;
  others: readonly string[];
}

export interface Comparison {
  /** The embedding model, named as in prompts. */
  model: string;
  /** The texts to compare, or the score if there is nothing to compare. */
  request: (example: Example) => ComparedTexts | Score;
  /** The score for these similarities, -1..1, as JSON. */
  read: (response: string) => Judgement;
}

/** An evaluator that calls one of the caller's endpoints: the caller's own scorer. */
export interface EndpointEvaluator<Config> {
  kind: 'endpoint';
  config: z.ZodType<Config>;
  prepare(config: Config): ScoringEndpoint;
}

export interface ScoringEndpoint {
  url: string;
  /** Per request. */
  timeoutMs: number;
  /** The body to post. @throws ScoringError if the example can't be sent */
  request: (example: Example) => string;
  /** The score in a response with status 2xx. Never throws. */
  read: (response: string) => Score;
}

/** A score that assesses the output. `value` is clamped to 0..1. */
export function scored(value: number, reason: string | null = null): Score {
  return { score: roundScore(Math.min(1, Math.max(0, value))), reason: reason && shorten(reason, 500), problem: null };
}

/** 1 without a reason, or 0 with `reason`. */
export function passOrFail(passed: boolean, reason: string): Score {
  return passed ? scored(1) : scored(0, reason);
}

/** A score of 0, or not a score ({@link isNoScore}), because the example could not be scored. */
export function unscored(problem: ScoreProblem, reason: string): Score {
  return { score: 0, reason: shorten(reason, 500), problem };
}

/**
 * The example's expected value. @throws ScoringError `missing_expected` if it has none, `too_large` if it is nested too deeply
 */
export function requireExpected(example: ScoredExample): JsonValue {
  if (example.expected === undefined) {
    throw new ScoringError('missing_expected', 'the example has no expected value');
  }
  if (!isJsonValue(example.expected)) {
    throw new ScoringError('too_large', `the expected value is ${jsonFault(example.expected)}`);
  }
  return example.expected;
}
