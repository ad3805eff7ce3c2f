import { type Estimate, normalInterval } from './interval.ts';
import { MAX_CATEGORIES } from './score.ts';

/** How the agreement of two categories falls with the distance of their positions: 1 if they are equal. */
export type KappaWeights = 'none' | 'linear' | 'quadratic';

/**
 * Cohen's kappa of two raters, weighted or not: how much more they agree than two raters with the same frequencies would by
 * chance. 1: always; 0: as often as by chance; negative: less often.
 *
 * Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960), and "Weighted
 * kappa", Psychological Bulletin 70 (1968). The interval uses the large-sample variance of Fleiss, Cohen and Everitt, "Large
 * sample standard errors of kappa and weighted kappa", Psychological Bulletin 72 (1969). The time grows with the subjects and
 * categories if unweighted, and with the square of the categories if weighted.
 * @param pairs for each subject the position of the first rater's category, and of the second rater's, from 0
 * @param size the number of categories: if weighted, in their order, at most {@link MAX_CATEGORIES}
 * @returns `value` is null if there is no subject, or both raters use only one category
 * @throws RangeError if there are too many categories to be weighted
 */
export function kappaOf(
  pairs: readonly (readonly [first: number, second: number])[],
  size: number,
  weights: KappaWeights = 'none',
): Estimate {
  if (weights !== 'none' && size > MAX_CATEGORIES) throw new RangeError(`${size} categories are too many`);
  const total = pairs.length;
  if (total === 0 || size < 2) return { value: null, interval: null };
  const weight = weightOf(weights, size);
  const first = sharesOf(
    pairs.map(([place]) => place),
    size,
  );
  const second = sharesOf(
    pairs.map(([, place]) => place),
    size,
  );
  // The mean weight of each category with those of the other rater. Unweighted, only the same category counts.
  const meanWeights = (shares: readonly number[]) =>
    weights === 'none'
      ? shares
      : shares.map((_, place) => sumOf(shares, (share, other) => weight(place, other) * share));
  const ofFirst = meanWeights(second);
  const ofSecond = meanWeights(first);
  const observed = sumOf(pairs, ([one, other]) => weight(one, other)) / total;
  const expected = sumOf(first, (share, place) => share * (ofFirst[place] ?? 0));
  const room = 1 - expected;
  // What rounding leaves of zero.
  if (room < 1e-12) return { value: null, interval: null };
  const value = (observed - expected) / room;
  const spread =
    sumOf(
      pairs,
      ([one, other]) => (weight(one, other) - ((ofFirst[one] ?? 0) + (ofSecond[other] ?? 0)) * (1 - value)) ** 2,
    ) / total;
  const variance = (spread - (value - expected * (1 - value)) ** 2) / (total * room ** 2);
  return { value, interval: normalInterval(value, Math.sqrt(Math.max(0, variance))) };
}

function sumOf<Item>(items: readonly Item[], term: (item: Item, index: number) => number): number {
  return items.reduce((sum, item, index) => sum + term(item, index), 0);
}

/** The share of each category. */
function sharesOf(places: readonly number[], size: number): number[] {
  const counts = Array.from({ length: size }, () => 0);
  for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
  return counts.map((count) => count / places.length);
}

function weightOf(weights: KappaWeights, size: number): (row: number, column: number) => number {
  if (weights === 'none') return (row, column) => (row === column ? 1 : 0);
  const power = weights === 'linear' ? 1 : 2;
  return (row, column) => 1 - (Math.abs(row - column) / (size - 1)) ** power;
}
