import { type Estimate, normalInterval } from './interval.ts';

/** The kind of the values: categories, which are equal or not, or numbers, whose distance counts. */
export type AlphaLevel = 'nominal' | 'interval';

/** The contribution of a unit to both disagreements; units can be added and removed. */
interface Sums {
  /** The number of values that can be paired. */
  count: number;
  /** Within units. */
  observed: number;
  /** The sum of numbers. */
  total: number;
  squares: number;
}

/**
 * Krippendorff's alpha: how much any number of raters agree, who need not have rated everything. 1: always; 0: as often as by chance.
 * Units with one value are ignored.
 *
 * Krippendorff, "Content Analysis", 2nd ed. (2004), chapter 11. The interval is from the jackknife over units: Efron and Stein, "The
 * jackknife estimate of variance", Annals of Statistics 9 (1981).
 * @param units the values of each unit; categories as numbers of any kind
 * @returns `value` is null if no unit has two values, or all values are the same; `interval` if it is based on fewer than two units
 */
export function alphaOf(units: readonly (readonly number[])[], level: AlphaLevel): Estimate {
  const paired = level === 'interval' ? scaled(units) : units.filter((unit) => unit.length > 1);
  const all: Sums = { count: 0, observed: 0, total: 0, squares: 0 };
  const categories = new Map<number, number>();
  const parts = paired.map((unit) => sumsOf(unit, level));
  for (const [index, part] of parts.entries()) {
    add(all, part, 1);
    for (const value of paired[index] ?? []) categories.set(value, (categories.get(value) ?? 0) + 1);
  }
  let sameSquares = [...categories.values()].reduce((sum, count) => sum + count ** 2, 0);
  const value = alphaFrom(all, level, sameSquares);
  if (value === null || paired.length < 2) return { value, interval: null };
  const without = parts.map((part, index) => {
    add(all, part, -1);
    const changes = level === 'nominal' ? (paired[index] ?? []) : [];
    for (const category of changes) sameSquares -= step(categories, category, -1);
    const left = alphaFrom(all, level, sameSquares);
    for (const category of changes) sameSquares += step(categories, category, 1);
    add(all, part, 1);
    return left ?? value;
  });
  const mean = meanOf(without);
  const spread = without.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { value, interval: normalInterval(value, Math.sqrt(((without.length - 1) / without.length) * spread)) };
}

/** The units that count, with values scaled to 0..1: alpha is the same, but sums of squares of large numbers would cancel out. */
function scaled(units: readonly (readonly number[])[]): number[][] {
  const paired = units.filter((unit) => unit.length > 1);
  const [least, most] = paired
    .flat()
    .reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const range = most - least;
  return paired.map((unit) => unit.map((value) => (range > 0 ? (value - least) / range : 0)));
}

const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** Adds or removes a value. @returns the absolute change of the square of its count */
function step(categories: Map<number, number>, category: number, by: 1 | -1): number {
  const before = categories.get(category) ?? 0;
  categories.set(category, before + by);
  return Math.abs((before + by) ** 2 - before ** 2);
}

function add(all: Sums, part: Sums, by: 1 | -1): void {
  all.count += by * part.count;
  all.observed += by * part.observed;
  all.total += by * part.total;
  all.squares += by * part.squares;
}

function sumsOf(unit: readonly number[], level: AlphaLevel): Sums {
  const count = unit.length;
  if (level === 'nominal') {
    const counts = new Map<number, number>();
    for (const value of unit) counts.set(value, (counts.get(value) ?? 0) + 1);
    const same = [...counts.values()].reduce((sum, each) => sum + each ** 2, 0);
    return { count, observed: (count ** 2 - same) / (count - 1), total: 0, squares: 0 };
  }
  const total = unit.reduce((sum, value) => sum + value, 0);
  const squares = unit.reduce((sum, value) => sum + value ** 2, 0);
  // The sum of squared distances over all ordered pairs.
  return { count, observed: (2 * (count * squares - total ** 2)) / (count - 1), total, squares };
}

function alphaFrom({ count, observed, total, squares }: Sums, level: AlphaLevel, sameSquares: number): number | null {
  const expected = level === 'nominal' ? count ** 2 - sameSquares : 2 * (count * squares - total ** 2);
  return expected > 1e-9 ? 1 - ((count - 1) * observed) / expected : null;
}
