import type { Score } from './evaluator.ts';

/** A scored output as shown to operators. Ids are public. */
export interface ScoredOutput {
  workspace: string;
  /** The evaluation, with the position of the example in it, from 0. */
  evaluation?: string;
  example?: number;
  /** The rule or backfill: the rule's name, and what it scores. */
  rule?: string;
  execution?: string;
  trace?: string;
}

/** Reports the evaluators' scores by name. */
export type TellScores = (scores: ReadonlyMap<string, Score>, error: { code: string } | undefined) => void;

/** Follows the work on a scored output, for operators only: it does not affect the result. */
export type FollowScoring = <T>(output: ScoredOutput, work: (tell: TellScores) => Promise<T>) => Promise<T>;
