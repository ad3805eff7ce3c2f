import { type Estimate, normalInterval } from './interval.ts';

/** How much two categories count as the same, by the distance of their places in the table: 1 where it is one category. */
export type KappaWeights = 'none' | 'linear' | 'quadratic';

/**
 * Cohen's kappa of two raters, weighted or not: how much more they agree than two who rate as often like them, but by chance.
 * 1: always; 0: as chance would have it; below: less than that.
 *
 * Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20 (1960), and "Weighted
 * kappa", Psychological Bulletin 70 (1968). The interval is by the large-sample variance of Fleiss, Cohen and Everitt, "Large
 * sample standard errors of kappa and weighted kappa", Psychological Bulletin 72 (1969).
 * @param table how many subjects the first rater has put into the category of the row, and the second into that of the column;
 * square, categories in their order
 * @returns `value` is null where there is no subject, or both raters know one category only
 */
export function kappaOf(table: readonly (readonly number[])[], weights: KappaWeights = 'none'): Estimate {
  const size = table.length;
  const total = table.flat().reduce((sum, count) => sum + count, 0);
  if (total === 0 || size < 2) return { value: null, interval: null };
  const share = (row: number, column: number) => (table[row]?.[column] ?? 0) / total;
  const places = Array.from({ length: size }, (_, place) => place);
  const sumOf = (term: (place: number) => number) => places.reduce((sum, place) => sum + term(place), 0);
  const weight = weightOf(weights, size);
  const rows = places.map((row) => sumOf((column) => share(row, column)));
  const columns = places.map((column) => sumOf((row) => share(row, column)));
  const observed = sumOf((row) => sumOf((column) => weight(row, column) * share(row, column)));
  const expected = sumOf((row) => sumOf((column) => weight(row, column) * (rows[row] ?? 0) * (columns[column] ?? 0)));
  const room = 1 - expected;
  // What rounding leaves of nothing.
  if (room < 1e-12) return { value: null, interval: null };
  const value = (observed - expected) / room;
  const ofRow = places.map((row) => sumOf((column) => weight(row, column) * (columns[column] ?? 0)));
  const ofColumn = places.map((column) => sumOf((row) => weight(row, column) * (rows[row] ?? 0)));
  const spread = sumOf((row) =>
    sumOf(
      (column) =>
        share(row, column) * (weight(row, column) - ((ofRow[row] ?? 0) + (ofColumn[column] ?? 0)) * (1 - value)) ** 2,
    ),
  );
  const variance = (spread - (value - expected * (1 - value)) ** 2) / (total * room ** 2);
  return { value, interval: normalInterval(value, Math.sqrt(Math.max(0, variance))) };
}

function weightOf(weights: KappaWeights, size: number): (row: number, column: number) => number {
  if (weights === 'none') return (row, column) => (row === column ? 1 : 0);
  const power = weights === 'linear' ? 1 : 2;
  return (row, column) => 1 - (Math.abs(row - column) / (size - 1)) ** power;
}
