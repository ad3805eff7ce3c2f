import { roundScore } from './scoring.ts';

const Z_95 = 1.959964;

/** Where the mean of scores lies that more examples of the same kind would have. */
export interface ScoreInterval {
  low: number;
  high: number;
}

/**
 * The 95 % interval of a mean score by Wilson (1927), rounded to six decimals. It holds for scores of 0 and 1. Scores in between
 * vary less, so that theirs is somewhat wider than need be; in exchange it needs nothing but the mean.
 * @param mean 0..1
 * @param examples at least 1
 */
export function scoreInterval(mean: number, examples: number): ScoreInterval {
  const z2 = Z_95 ** 2;
  const center = (mean + z2 / (2 * examples)) / (1 + z2 / examples);
  const half = (Z_95 / (1 + z2 / examples)) * Math.sqrt((mean * (1 - mean)) / examples + z2 / (4 * examples ** 2));
  return { low: roundScore(Math.max(0, center - half)), high: roundScore(Math.min(1, center + half)) };
}
