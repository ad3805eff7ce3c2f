import { type Estimate, Z_95 } from './interval.ts';

/**
 * Spearman's rank correlation of pairs of numbers; equal numbers share the mean of their ranks.
 *
 * The interval uses Fisher's transformation with the variance of Bonett and Wright, (1 + ρ²/2) / (n − 3): "Sample size
 * requirements for estimating Pearson, Kendall and Spearman correlations", Psychometrika 65 (2000).
 * @returns `value` is null if one of them is constant or there are fewer than two pairs; `interval` if there are fewer than four
 * pairs or the order is exactly the same or opposite, for which the method has none
 */
export function spearmanOf(pairs: readonly (readonly [number, number])[]): Estimate {
  const value = correlationOf(ranksOf(pairs.map(([first]) => first)), ranksOf(pairs.map(([, second]) => second)));
  if (value === null || pairs.length < 4 || Math.abs(value) > 1 - 1e-12) return { value, interval: null };
  const middle = Math.atanh(value);
  const reach = Z_95 * Math.sqrt((1 + value ** 2 / 2) / (pairs.length - 3));
  return { value, interval: { lower: Math.tanh(middle - reach), upper: Math.tanh(middle + reach) } };
}

/** Ranks, from 1. */
function ranksOf(numbers: readonly number[]): number[] {
  const order = numbers.map((_, index) => index).sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
  const ranks = numbers.map(() => 0);
  for (let start = 0; start < order.length; ) {
    let end = start;
    while (end < order.length && numbers[order[end] ?? 0] === numbers[order[start] ?? 0]) end += 1;
    for (const index of order.slice(start, end)) ranks[index] = (start + 1 + end) / 2;
    start = end;
  }
  return ranks;
}

/** Pearson's correlation. */
function correlationOf(first: readonly number[], second: readonly number[]): number | null {
  const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const [firstMean, secondMean] = [meanOf(first), meanOf(second)];
  let [products, firstSquares, secondSquares] = [0, 0, 0];
  for (const [index, each] of first.entries()) {
    const [a, b] = [each - firstMean, (second[index] ?? 0) - secondMean];
    products += a * b;
    firstSquares += a * a;
    secondSquares += b * b;
  }
  const scale = Math.sqrt(firstSquares * secondSquares);
  return scale > 0 ? Math.min(1, Math.max(-1, products / scale)) : null;
}
