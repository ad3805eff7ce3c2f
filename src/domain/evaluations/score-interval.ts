import { roundScore } from './scoring.ts';

const Z_95 = 1.959964;

/** The interval for the mean score of more examples of the same kind. */
export interface ScoreInterval {
  low: number;
  high: number;
}

/**
 * The 95 % interval of a mean score by Wilson (1927), rounded to six decimals. It is correct for scores of 0 and 1. Scores in
 * between vary less, so their interval is somewhat wider than necessary; in exchange only the mean is needed.
 * @param mean 0..1
 * @param examples at least 1
 */
export function scoreInterval(mean: number, examples: number): ScoreInterval {
  const z2 = Z_95 ** 2;
  const center = (mean + z2 / (2 * examples)) / (1 + z2 / examples);
  const half = (Z_95 / (1 + z2 / examples)) * Math.sqrt((mean * (1 - mean)) / examples + z2 / (4 * examples ** 2));
  return { low: roundScore(Math.max(0, center - half)), high: roundScore(Math.min(1, center + half)) };
}
