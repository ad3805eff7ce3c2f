import { type RawBuilder, sql } from 'kysely';
import { SCORE_EPSILON } from '../../../domain/evaluations/scoring.ts';
import {
  type EvaluatorOverlap,
  type NamedEvaluator,
  overlapOf,
} from '../../../domain/evaluations/shared-evaluators.ts';

/** What of a run decides how its examples are scored. */
export interface ScoringRun {
  evaluators: readonly NamedEvaluator[];
  example_threshold: number | null;
}

/** The score of an example over the evaluators that two runs share: their weighted mean, 0..1. */
export interface SharedScore {
  evaluators: readonly NamedEvaluator[];
  /** From this score on an example counts 1, below it 0; null: it counts its score. Only if both runs have the same. */
  exampleThreshold: number | null;
}

/**
 * How the scores of the examples of two runs are compared.
 * @param b the run after, whose weights count
 * @returns null: as they are stored; undefined: the runs share no evaluator
 */
export function sharedScoreOf(a: ScoringRun, b: ScoringRun): SharedScore | null | undefined {
  return sharedScoreOver(overlapOf(a.evaluators, b.evaluators), a, b);
}

/** The same for evaluators that were compared before. */
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

/** SQL for a shared score. @param column the `scores` of a result; null where one of the evaluators has given none */
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

/** The same as text, for statements that the builder can't write. @param add makes a placeholder of a value */
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
