/** Scores are kept to this many decimals everywhere: what is stored, sent and compared is the same number. */
const MILLIONTHS = 1_000_000;

/** Scores closer than this count as the same. Far below the sixth decimal, to which scores are rounded. */
export const SCORE_EPSILON = 1e-9;

/** How an example did against the same example of the baseline, or against the threshold where there is no baseline. */
export type ExampleChange = 'regression' | 'improvement' | 'unchanged' | 'new';

/** One evaluator's share in an example's score. `score` 0..1, `weight` > 0. */
export interface WeightedScore {
  score: number;
  weight: number;
}

/** Rounds to six decimals, half away from zero, and never gives -0. For scores and for differences between them. */
export function roundScore(value: number): number {
  // The nudge puts ties that binary floats hold a hair too low (0.0000005 × 10⁶ = 0.49999…) on the side they belong to.
  const millionths = Math.round(Math.abs(value) * MILLIONTHS + SCORE_EPSILON);
  return millionths === 0 ? 0 : (Math.sign(value) * millionths) / MILLIONTHS;
}

/**
 * The score of one example: the weighted mean of its evaluators' scores, 0..1, rounded to six decimals.
 *
 * @throws RangeError without any score: an evaluation always has at least one evaluator.
 */
export function weightedMean(scores: readonly WeightedScore[]): number {
  let sum = 0;
  let weights = 0;
  for (const { score, weight } of scores) {
    sum += score * weight;
    weights += weight;
  }
  if (!(weights > 0)) throw new RangeError('a weighted mean needs at least one score with a positive weight');
  return roundScore(Math.min(1, Math.max(0, sum / weights)));
}

/**
 * The plain mean of scores that are each rounded to six decimals, itself rounded so; null for none. Used for the score
 * of a run (over its examples, one that failed counting 0) and of each evaluator. Summed as whole millionths, which is
 * exact up to 9 × 10⁹ examples, so that neither the order nor the number of the examples adds noise.
 */
export function meanScore(scores: readonly number[]): number | null {
  if (scores.length === 0) return null;
  let millionths = 0;
  for (const score of scores) millionths += Math.round(score * MILLIONTHS);
  return Math.round(millionths / scores.length) / MILLIONTHS;
}

/**
 * Each evaluator's mean over all examples of a run, by the evaluator's name; null for a run without examples. An example
 * without a score of some evaluator (because its model call failed for good) counts 0 there, as it does in the run's score.
 *
 * @param names the run's evaluators, in their order, which is kept
 * @param examples for each example the scores by evaluator
 */
export function scoresByEvaluator(
  names: readonly string[],
  examples: readonly Readonly<Record<string, number>>[],
): Record<string, number | null> {
  return Object.fromEntries(
    names.map((name) => [name, meanScore(examples.map((scores) => ownScore(scores, name) ?? 0))]),
  );
}

/** The score under this name, and not what every object inherits under names such as `constructor`. */
export function ownScore(scores: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(scores, name) ? scores[name] : undefined;
}

/** Whether a run reaches its threshold. A score that equals it but for float noise does. */
export function passes(score: number, threshold: number): boolean {
  return score >= threshold - SCORE_EPSILON;
}

/** -1 when `score` is lower than `reference`, 1 when it is higher, 0 when they are the same but for float noise. */
export function compareScores(score: number, reference: number): -1 | 0 | 1 {
  if (score < reference - SCORE_EPSILON) return -1;
  return score > reference + SCORE_EPSILON ? 1 : 0;
}

/**
 * What an example's score means beside the baseline.
 *
 * @param baseline the same example's score in the baseline; undefined where the baseline lacks the example; null for a
 * run without a baseline, whose regressions are the examples below `threshold`
 */
export function exampleChange(score: number, baseline: number | undefined | null, threshold: number): ExampleChange {
  if (baseline === null) return passes(score, threshold) ? 'unchanged' : 'regression';
  if (baseline === undefined) return 'new';
  const order = compareScores(score, baseline);
  if (order === 0) return 'unchanged';
  return order < 0 ? 'regression' : 'improvement';
}

/**
 * The nearest-rank percentile: the smallest value with at least `percent` % of all values at or below it. Always one of
 * the values; null for none.
 *
 * @param values in any order
 * @param percent above 0, at most 100
 */
export function percentile(values: readonly number[], percent: number): number | null {
  if (!(percent > 0 && percent <= 100)) throw new RangeError('percent must be above 0 and at most 100');
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.ceil((percent * sorted.length) / 100) - 1] ?? null;
}
