/** Scores have this many decimals everywhere, so that stored, sent and compared numbers are the same. */
const MILLIONTHS = 1_000_000;

/** Scores closer than this count as equal. Far below the sixth decimal, to which scores are rounded. */
export const SCORE_EPSILON = 1e-9;

/** One evaluator's share in an example's score. `score` 0..1, `weight` > 0. */
interface WeightedScore {
  score: number;
  weight: number;
}

/** Rounds to six decimals, half away from zero, and never returns -0. For scores and for differences between them. */
export function roundScore(value: number): number {
  // The nudge moves ties that binary floats store slightly too low (0.0000005 × 10⁶ = 0.49999…) to the correct side.
  const millionths = Math.round(Math.abs(value) * MILLIONTHS + SCORE_EPSILON);
  return millionths === 0 ? 0 : (Math.sign(value) * millionths) / MILLIONTHS;
}

/**
 * The score of one example: the weighted mean of its evaluators' scores, 0..1, rounded to six decimals.
 *
 * @throws RangeError without any score, because an evaluation always has at least one evaluator.
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
 * The value that an example's score counts as.
 * @param threshold scores from here on count 1, others 0; null: unchanged
 */
export function countedScore(score: number, threshold: number | null): number {
  return threshold === null ? score : Number(passes(score, threshold));
}

/** Whether a run reaches its threshold. Ignores float noise. */
export function passes(score: number, threshold: number): boolean {
  return score >= threshold - SCORE_EPSILON;
}
