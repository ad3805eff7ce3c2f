import type { z } from 'zod';
import { roundScore } from '../domain/evaluations/scoring.ts';
import type { ToolCall } from '../domain/prompts/messages.ts';
import type { ModelParameters } from '../domain/prompts/parameters.ts';
import type { JsonValue } from '../domain/text/json.ts';
import { isJsonValue, jsonFault } from './matching/json.ts';
import { shorten } from './matching/text.ts';

/** What an evaluator gets to see of an example that has been run. */
export interface Example {
  /** The model's response. */
  output: string;
  /** The tools that it asks for. */
  toolCalls: readonly ToolCall[];
  /** The expected output; undefined when the example has none (null is a value). */
  expected: JsonValue | undefined;
  variables: Readonly<Record<string, JsonValue>>;
  /** The filled prompt, as a person reads it. */
  input: string;
  /** How long the call took that gave the output; null where that is not known. */
  modelMs: number | null;
  /** What the output cost in US dollars, decimal; null where that is not known. */
  costUsd: string | null;
  metadata?: Readonly<Record<string, JsonValue>>;
}

/**
 * Why an example could not be scored. The cause is the example, the evaluator's options or who was asked, and not the quality of the
 * output. It then counts 0, or is no score at all ({@link isNoScore}):
 * `missing_expected` the example has no `expected` that this evaluator could use;
 * `not_measured` what it is about is not known: a cost, a latency;
 * `too_large` a text or value is beyond what is examined;
 * `timed_out` the evaluators took too long on this output;
 * `unusable_judgement` the judge's response held no usable score, also when asked again;
 * `unusable_response` the response of the caller's scorer held no usable score;
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

/** Of those who were asked, and gave no answer that can be used. */
const NO_ANSWER: ReadonlySet<ScoreProblem | null> = new Set(['unusable_judgement', 'unusable_response'] as const);

/** Whether it is no score, which is in no mean: who was asked has said nothing of the output. */
export const isNoScore = ({ problem }: Pick<Score, 'problem'>): boolean => NO_ANSWER.has(problem);

/** An evaluator's verdict on one example. */
export interface Score {
  /** 0..1, rounded to six decimals. */
  score: number;
  /** What is wrong, in plain words, at most 500 characters; null when there is nothing to say. */
  reason: string | null;
  /** Of a judge that says a category: which the score stands for. */
  category?: string;
  /** Null when the score says something about the output. */
  problem: ScoreProblem | null;
}

/** Thrown inside an evaluator to say that an example can't be scored; `prepareEvaluator` turns it into a score of 0. */
export class ScoringError extends Error {
  readonly code: ScoreProblem;

  constructor(code: ScoreProblem, message: string) {
    super(message);
    this.name = 'ScoringError';
    this.code = code;
  }
}

/** What to ask a judge. */
export interface JudgeRequest {
  /** The whole prompt. */
  input: string;
  parameters: ModelParameters;
}

/**
 * What is read from a judge's response: a score, or why it holds none (asking once more may help). `reason` is for people, `fault` for the
 * judge: it quotes nothing, since the response may repeat what the judged output says.
 */
export type Judgement = { usable: true; score: Score } | { usable: false; reason: string; fault: string };

/** What an evaluator without requests is computed from. */
export type ScoredExample = Pick<Example, 'output' | 'expected'> &
  Partial<Pick<Example, 'toolCalls' | 'modelMs' | 'costUsd'>>;

/** What is wrong with an option that is code: an expression, a schema. */
export interface OptionFault {
  option: string;
  message: string;
}

/** An evaluator that computes the score from the texts alone. */
export interface ScoringEvaluator<Config> {
  kind: 'scoring';
  config: z.ZodType<Config>;
  /**
   * For options that are code, which the schema of the options can't look into: compiling it may take any time, so this and
   * `prepare` are only called in threads that can be ended.
   */
  fault?(config: Config): OptionFault | null;
  /**
   * Does what is needed once for a run (compiling an expression or a schema). The function returned may throw
   * `ScoringError` or anything else: `prepareEvaluator` catches it.
   */
  prepare(config: Config): (example: ScoredExample) => Score;
  /** Whether its scores are only 0 and 1. Default: they can be anything between. */
  isPassOrFail?(config: Config): boolean;
  /** Whether it scores nothing without an expected value. Default: it can. */
  needsExpected?(config: Config): boolean;
}

/**
 * An evaluator that needs one call to a model. Asking and reading are apart, so that the response can be recorded in
 * between and is never paid for twice. Neither throws.
 */
export interface JudgingEvaluator<Config> {
  kind: 'judging';
  config: z.ZodType<Config>;
  prepare(config: Config): Judge;
  /** Whether its scores are only 0 and 1. Default: they can be anything between. */
  isPassOrFail?(config: Config): boolean;
}

export interface Judge {
  /** The model to ask, as prompts name theirs. */
  model: string;
  /** @param fault of the response to the same request before */
  request(example: Example, fault?: string): JudgeRequest;
  read(response: string): Judgement;
}

/**
 * An evaluator that needs one call for embeddings, by which the output is compared with other texts. Neither `request` nor `read`
 * throws.
 */
export interface EmbeddingEvaluator<Config> {
  kind: 'embedding';
  config: z.ZodType<Config>;
  prepare(config: Config): Comparison;
}

/** A text, and those that it is compared with. */
export interface ComparedTexts {
  text: string;
  others: readonly string[];
}

export interface Comparison {
  /** The model that embeds, as prompts name theirs. */
  model: string;
  /** What to compare, or the score where there is nothing to. */
  request: (example: Example) => ComparedTexts | Score;
  /** The score of these similarities, -1..1, as JSON. */
  read: (response: string) => Judgement;
}

/** An evaluator that asks an endpoint of the caller: the caller's own scorer. */
export interface EndpointEvaluator<Config> {
  kind: 'endpoint';
  config: z.ZodType<Config>;
  prepare(config: Config): ScoringEndpoint;
}

export interface ScoringEndpoint {
  url: string;
  /** For one request. */
  timeoutMs: number;
  /** The body to post. @throws ScoringError where the example can't be sent */
  request: (example: Example) => string;
  /** The score that a response of status 2xx holds. Never throws. */
  read: (response: string) => Score;
}

/** A score that says something about the output. `value` is held to 0..1. */
export function scored(value: number, reason: string | null = null): Score {
  return { score: roundScore(Math.min(1, Math.max(0, value))), reason: reason && shorten(reason, 500), problem: null };
}

/** 1 without a reason, or 0 with `reason`. */
export function passOrFail(passed: boolean, reason: string): Score {
  return passed ? scored(1) : scored(0, reason);
}

/** A score of 0, or none ({@link isNoScore}), because the example could not be scored. */
export function unscored(problem: ScoreProblem, reason: string): Score {
  return { score: 0, reason: shorten(reason, 500), problem };
}

/** The example's expected value. @throws ScoringError `missing_expected` when it has none, `too_large` when it is too deep */
export function requireExpected(example: ScoredExample): JsonValue {
  if (example.expected === undefined) {
    throw new ScoringError('missing_expected', 'the example has no expected value');
  }
  if (!isJsonValue(example.expected)) {
    throw new ScoringError('too_large', `the expected value is ${jsonFault(example.expected)}`);
  }
  return example.expected;
}
