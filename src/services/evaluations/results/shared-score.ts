import { type RawBuilder, sql } from 'kysely';
import { SCORE_EPSILON } from '../../../domain/evaluations/scoring.ts';
import {
  type EvaluatorOverlap,
  type NamedEvaluator,
  overlapOf,
} from '../../../domain/evaluations/shared-evaluators.ts';

/** The parts of a run that decide how its examples are scored. */
export interface ScoringRun {
  evaluators: readonly NamedEvaluator[];
  example_threshold: number | null;
}

/** The score of an example over the evaluators that two runs share: their weighted mean, 0..1. */
export interface SharedScore {
  evaluators: readonly NamedEvaluator[];
  /** Examples with at least this score count 1, others 0; null: they count their score. Used only if both runs have the same. */
  exampleThreshold: number | null;
}

/**
 * How to compare the scores of the examples of two runs.
 * @param b the later run, whose weights count
 * @returns null: compare the stored scores; undefined: the runs share no evaluator
 */
export function sharedScoreOf(a: ScoringRun, b: ScoringRun): SharedScore | null | undefined {
  return sharedScoreOver(overlapOf(a.evaluators, b.evaluators), a, b);
}

/** Like `sharedScoreOf`, for evaluators that were compared before. */
export function sharedScoreOver(
  { shared, isSame }: EvaluatorOverlap<NamedEvaluator>,
  a: ScoringRun,
  b: ScoringRun,
): SharedScore | null | undefined {
  if (shared.length === 0) return undefined;
  const hasSameThreshold = a.example_threshold === b.example_threshold;
  if (isSame && hasSameThreshold) return null;
  return { evaluators: shared, exampleThreshold: hasSameThreshold ? b.example_threshold : null };
}

/** SQL for a shared score. @param column the `scores` of a result; the score is null if one of the evaluators has given none */
export function sharedScoreSql(
  column: string,
  { evaluators, exampleThreshold }: SharedScore,
): RawBuilder<number | null> {
  const weights = evaluators.reduce((sum, { weight }) => sum + weight, 0);
  const parts = evaluators.map(
    ({ name, weight }) => sql`(${sql.ref(column)}->${sql`${name}::text`}->>'score')::float8 * ${weight}::float8`,
  );
  const mean = sql<number>`round(((${sql.join(parts, sql` + `)}) / ${weights}::float8)::numeric, 6)::float8`;
  if (exampleThreshold === null) return mean;
  return sql<number>`(${mean} >= ${exampleThreshold}::float8 - ${SCORE_EPSILON}::float8)::int::float8`;
}

/** Like `sharedScoreSql`, as text for statements that the builder can't express. @param add turns a value into a placeholder */
export function sharedScoreText(
  column: string,
  { evaluators, exampleThreshold }: SharedScore,
  add: (value: unknown, type: string) => string,
): string {
  const weights = evaluators.reduce((sum, { weight }) => sum + weight, 0);
  const parts = evaluators.map(
    ({ name, weight }) => `(${column}->${add(name, 'text')}->>'score')::float8 * ${add(weight, 'float8')}`,
  );
  const mean = `round(((${parts.join(' + ')}) / ${add(weights, 'float8')})::numeric, 6)::float8`;
  if (exampleThreshold === null) return mean;
  return `(${mean} >= ${add(exampleThreshold - SCORE_EPSILON, 'float8')})::int::float8`;
}
