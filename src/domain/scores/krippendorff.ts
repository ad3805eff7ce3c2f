import { type Estimate, normalInterval } from './interval.ts';

/** What the values of several raters are: categories, which are the same or not, or numbers, of which the distance counts. */
export type AlphaLevel = 'nominal' | 'interval';

/** What a unit adds to both disagreements; units can be added and taken away. */
interface Sums {
  /** Values that can be paired. */
  count: number;
  /** Within units. */
  observed: number;
  /** Of numbers. */
  total: number;
  squares: number;
}

/**
 * Krippendorff's alpha: how much any number of raters agree, who need not have rated everything. 1: always; 0: as chance would
 * have it. Units with one value say nothing.
 *
 * Krippendorff, "Content Analysis", 2nd ed. (2004), chapter 11. The interval is by the jackknife over units: Efron and Stein,
 * "The jackknife estimate of variance", Annals of Statistics 9 (1981).
 * @param units the values that each unit got; categories as numbers of any kind
 * @returns `value` is null where no unit has two values, or all values are the same; `interval` where it rests on fewer than two units
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

/** The units that count, with values from 0 to 1: alpha is the same, and sums of squares of far numbers would cancel out. */
function scaled(units: readonly (readonly number[])[]): number[][] {
  const paired = units.filter((unit) => unit.length > 1);
  const [least, most] = paired
    .flat()
    .reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  const range = most - least;
  return paired.map((unit) => unit.map((value) => (range > 0 ? (value - least) / range : 0)));
}

const meanOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** Counts a value in or out. @returns by how much the square of its count has changed, without its sign */
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
  // Over all ordered pairs, the squares of distances come to this.
  return { count, observed: (2 * (count * squares - total ** 2)) / (count - 1), total, squares };
}

function alphaFrom({ count, observed, total, squares }: Sums, level: AlphaLevel, sameSquares: number): number | null {
  const expected = level === 'nominal' ? count ** 2 - sameSquares : 2 * (count * squares - total ** 2);
  return expected > 1e-9 ? 1 - ((count - 1) * observed) / expected : null;
}
