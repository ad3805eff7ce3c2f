/** Scores are kept to this many decimals everywhere: what is stored, sent and compared is the same number. */
const MILLIONTHS = 1_000_000;

/** Scores closer than this count as the same. Far below the sixth decimal, to which scores are rounded. */
export const SCORE_EPSILON = 1e-9;

/** One evaluator's share in an example's score. `score` 0..1, `weight` > 0. */
interface WeightedScore {
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
 * What an example's score counts.
 * @param threshold from which on it counts 1, and below it 0; null: as it is
 */
export function countedScore(score: number, threshold: number | null): number {
  return threshold === null ? score : Number(passes(score, threshold));
}

/** Whether a run reaches its threshold. A score that equals it but for float noise does. */
export function passes(score: number, threshold: number): boolean {
  return score >= threshold - SCORE_EPSILON;
}
