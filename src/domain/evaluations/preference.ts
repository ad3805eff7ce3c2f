import { estimateDifference, estimateFromSums, MAX_RESAMPLED_PAIRS, MIN_DIFFERING_PAIRS } from './paired-difference.ts';
import { roundScore, SCORE_EPSILON } from './scoring.ts';

export const PREFERENCE_VERDICTS = ['preferred', 'other_preferred', 'within_noise', 'too_few_differences'] as const;

export const PREFERENCE_SOURCES = ['evaluator', 'person'] as const;

/** How often a judge that compares, or people, prefer one of two runs. */
export interface Preference {
  /** A value of {@link PREFERENCE_SOURCES}. */
  source: string;
  /** The name of the evaluator, or of the score that people give. */
  evaluator: string;
  /** The number of answers if people gave them. An example counts once, with their mean. */
  reviews?: number | undefined;
  /** The examples with a preference or a tie. */
  examples: number;
  /** Examples whose score is above 0.5, below it, and 0.5. */
  preferred: number;
  other_preferred: number;
  ties: number;
  /** The mean score, 0..1: 0.5 if neither is better. */
  share: number;
  /** 95 %; it excludes 0.5 exactly if the p-value is below 0.05. */
  interval: { low: number; high: number };
  p_value: number;
  verdict: (typeof PREFERENCE_VERDICTS)[number];
}

/** The number of examples with a score. */
export interface ScoreCount {
  score: number;
  count: number;
}

/**
 * Tests whether one run is preferred: without a difference, a preference for either is equally likely, so the signs of the
 * distances from 0.5 can be flipped (`estimateDifference`). Undefined without an example.
 * @param reviews the number of answers if they are by people
 */
export function preferenceOf(
  evaluator: string,
  counts: readonly ScoreCount[],
  reviews?: number,
): Preference | undefined {
  const total = (holds: (score: number) => boolean) =>
    counts.reduce((sum, { score, count }) => sum + (holds(score) ? count : 0), 0);
  const examples = total(() => true);
  if (examples === 0) return undefined;
  const preferred = total((score) => score > 0.5 + SCORE_EPSILON);
  const otherPreferred = total((score) => score < 0.5 - SCORE_EPSILON);
  const distances = counts.map(({ score, count }) => ({ distance: 2 * score - 1, count }));
  const mean = distances.reduce((sum, { distance, count }) => sum + distance * count, 0) / examples;
  const estimate =
    examples <= MAX_RESAMPLED_PAIRS
      ? estimateDifference(distances.flatMap(({ distance, count }) => Array<number>(count).fill(distance)))
      : estimateFromSums({
          pairs: examples,
          differing: preferred + otherPreferred,
          mean,
          squares: distances.reduce((sum, { distance, count }) => sum + count * (distance - mean) ** 2, 0),
        });
  const shareOf = (value: number) => roundScore((value + 1) / 2);
  const verdict =
    preferred + otherPreferred < MIN_DIFFERING_PAIRS
      ? 'too_few_differences'
      : estimate.low > 0
        ? 'preferred'
        : estimate.high < 0
          ? 'other_preferred'
          : 'within_noise';
  return {
    source: reviews === undefined ? 'evaluator' : 'person',
    evaluator,
    ...(reviews !== undefined && { reviews }),
    examples,
    preferred,
    other_preferred: otherPreferred,
    ties: examples - preferred - otherPreferred,
    share: shareOf(estimate.mean),
    interval: { low: shareOf(estimate.low), high: shareOf(estimate.high) },
    p_value: estimate.pValue,
    verdict,
  };
}

const percent = (share: number) => (100 * share).toFixed(1);
const FINDINGS: Record<Preference['verdict'], string> = {
  preferred: 'b is preferred',
  other_preferred: 'a is preferred',
  within_noise: 'within noise',
  too_few_differences: 'too few preferences to rule out chance',
};

/** A preference in one sentence. */
export function describePreference(preference: Preference): string {
  const {
    evaluator,
    reviews,
    examples,
    preferred,
    other_preferred: other,
    ties,
    share,
    interval,
    verdict,
  } = preference;
  const by = reviews === undefined ? `"${evaluator}"` : `${reviews} answers of people for "${evaluator}"`;
  return (
    `By ${by}, b is better in ${preferred} of ${examples} examples, a in ${other}, with ${ties} ties: ` +
    `${percent(share)} % (95 % CI ${percent(interval.low)} to ${percent(interval.high)}), ${FINDINGS[verdict]}.`
  );
}
