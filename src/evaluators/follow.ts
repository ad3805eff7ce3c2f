import type { Score } from './evaluator.ts';

/** An output that is scored, as operators know it. Ids are the public ones. */
export interface ScoredOutput {
  workspace: string;
  /** Of an evaluation: with the place of the example in it, from 0. */
  evaluation?: string;
  example?: number;
  /** Of a rule or a backfill: the rule's name, and what it scores. */
  rule?: string;
  execution?: string;
}

/** Tells what evaluators say of an output, by their names. */
export type TellScores = (scores: ReadonlyMap<string, Score>, error: { code: string } | undefined) => void;

/** Follows the work on an output that is scored. Only tells operators: what the work comes to is not changed. */
export type FollowScoring = <T>(output: ScoredOutput, work: (tell: TellScores) => Promise<T>) => Promise<T>;
