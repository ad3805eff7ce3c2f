import type { Estimate } from './interval.ts';
import { kappaOf } from './kappa.ts';
import { alphaOf } from './krippendorff.ts';
import { spearmanOf } from './rank-correlation.ts';

/** The types that can be compared, which excludes texts. */
export type ComparableType = 'numeric' | 'boolean' | 'categorical';
/** A boolean is 0 or 1. */
export type ComparableValue = number | string;

/** A judge's score of a subject, and the score by people. */
export interface Judged {
  judge: ComparableValue;
  people: ComparableValue;
}

export type MeasureName =
  | 'cohen_kappa'
  | 'weighted_kappa_linear'
  | 'weighted_kappa_quadratic'
  | 'spearman_rho'
  | 'krippendorff_alpha';

/** A measure of agreement: 1 is perfect, 0 is chance. */
export interface Measure extends Estimate {
  name: MeasureName;
}

/** How well a judge agrees with people. */
export interface JudgeAgreement {
  /** The verdict is based on the first one. */
  measures: Measure[];
  /** 0–1: the share of subjects with exactly the same score from both. */
  same: number | null;
  /** For numbers: the mean distance. */
  meanDistance: number | null;
  /** Null if it can't be determined. */
  betterThanChance: boolean | null;
  /** In plain words. */
  verdict: string;
}

/** With fewer subjects, the intervals are not valid: they hold for large samples. */
const MIN_SUBJECTS = 20;
/** Numbers in up to this many steps count as ordered categories. */
const MAX_STEPS = 101;

/**
 * The scores of a subject by several people, as one value: the median of numbers, or the most frequent category.
 * @param values at least one
 * @returns null if there is no single most frequent category
 */
export function consensusOf(type: ComparableType, values: readonly ComparableValue[]): ComparableValue | null {
  if (type === 'numeric') {
    const sorted = values.map(Number).sort((a, b) => a - b);
    const middle = (sorted.length - 1) / 2;
    return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
  }
  const counts = new Map<ComparableValue, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const frequent = [...counts].filter(([, count]) => count === most);
  return frequent.length === 1 ? (frequent[0]?.[0] ?? null) : null;
}

/**
 * Measures how well a judge agrees with people: Cohen's kappa for categories and booleans, Spearman's correlation for numbers,
 * and weighted kappas for ordered categories and for numbers in whole or half steps.
 * @param order of categories, if they have one
 */
export function judgeAgreement(
  type: ComparableType,
  judged: readonly Judged[],
  order?: readonly string[],
): JudgeAgreement {
  const measures = measuresOf(type, judged, order);
  const same =
    judged.length === 0 ? null : judged.filter(({ judge, people }) => judge === people).length / judged.length;
  const distances = judged.map(({ judge, people }) => Math.abs(Number(judge) - Number(people)));
  const meanDistance =
    type !== 'numeric' || judged.length === 0 ? null : distances.reduce((sum, each) => sum + each, 0) / judged.length;
  return { measures, same, meanDistance, ...verdictOf(measures[0], judged.length) };
}

function measuresOf(type: ComparableType, judged: readonly Judged[], order?: readonly string[]): Measure[] {
  if (type === 'numeric') {
    const pairs = judged.map(({ judge, people }) => [Number(judge), Number(people)] as const);
    const steps = stepsOf(pairs.flat());
    return [{ name: 'spearman_rho', ...spearmanOf(pairs) }, ...(steps === undefined ? [] : weighted(judged, steps))];
  }
  const used = new Set(judged.flatMap(({ judge, people }) => [judge, people]));
  const kappa: Measure = { name: 'cohen_kappa', ...kappaOf(...placed(judged, [...used])) };
  if (type === 'boolean' || order === undefined || order.length < 3) return [kappa];
  // A category that is not, or no longer, in the order has no position.
  const ordered = new Set<ComparableValue>(order);
  const inOrder = judged.filter(({ judge, people }) => ordered.has(judge) && ordered.has(people));
  return [kappa, ...weighted(inOrder, order)];
}

const weighted = (judged: readonly Judged[], categories: readonly ComparableValue[]): Measure[] =>
  (['linear', 'quadratic'] as const).map((weights) => ({
    name: `weighted_kappa_${weights}`,
    ...kappaOf(...placed(judged, categories), weights),
  }));

/** The positions of the judge's category and of people's category, as input of {@link kappaOf}. @param categories all that there are */
function placed(
  judged: readonly Judged[],
  categories: readonly ComparableValue[],
): [pairs: (readonly [number, number])[], size: number] {
  const places = new Map(categories.map((category, place) => [category, place]));
  const placeOf = (category: ComparableValue) => places.get(category) ?? 0;
  return [judged.map(({ judge, people }) => [placeOf(judge), placeOf(people)] as const), categories.length];
}

/** All whole or half numbers from the least to the greatest; undefined if there are others, or too many. */
function stepsOf(numbers: readonly number[]): number[] | undefined {
  const step = [1, 0.5].find((size) => numbers.every((number) => Number.isInteger(number / size)));
  if (step === undefined || numbers.length === 0) return undefined;
  const [least, most] = numbers.reduce(
    ([low, high], number) => [Math.min(low, number), Math.max(high, number)] as const,
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] as const,
  );
  const count = (most - least) / step + 1;
  return count > MAX_STEPS ? undefined : Array.from({ length: count }, (_, place) => least + place * step);
}

/** Landis and Koch, "The measurement of observer agreement for categorical data", Biometrics 33 (1977). */
const WORDS: readonly (readonly [below: number, word: string])[] = [
  [0.2, 'slight'],
  [0.4, 'fair'],
  [0.6, 'moderate'],
  [0.8, 'substantial'],
  [Number.POSITIVE_INFINITY, 'almost perfect'],
];

function verdictOf(measure: Measure | undefined, n: number): Pick<JudgeAgreement, 'betterThanChance' | 'verdict'> {
  if (n < MIN_SUBJECTS)
    return {
      betterThanChance: null,
      verdict: `Not enough data: both the judge and people have scored ${n} subjects; at least ${MIN_SUBJECTS} are needed.`,
    };
  if (measure === undefined || measure.value === null)
    return { betterThanChance: null, verdict: 'Cannot be determined: the judge or people always give the same score.' };
  const { value, interval } = measure;
  if (interval === null)
    return value > 0
      ? { betterThanChance: true, verdict: 'Better than chance: the order is the same throughout.' }
      : {
          betterThanChance: false,
          verdict: 'Worse than chance: the order is the opposite throughout. Do not rely on it.',
        };
  const range = `${value.toFixed(2)}, 95 % interval ${interval.lower.toFixed(2)} to ${interval.upper.toFixed(2)}`;
  if (interval.upper < 0)
    return {
      betterThanChance: false,
      verdict: `Worse than chance (${range}): it says the opposite of people. Do not rely on it.`,
    };
  if (interval.lower <= 0)
    return {
      betterThanChance: false,
      verdict: `No better than chance, as far as ${n} subjects tell (${range}). Do not rely on it.`,
    };
  const word = WORDS.find(([below]) => value < below)?.[1] ?? '';
  return { betterThanChance: true, verdict: `Better than chance: ${word} agreement with people (${range}).` };
}

/** How much the reviewers of a queue agree, from the items that at least two have scored. */
export function reviewerAgreement(type: ComparableType, units: readonly (readonly ComparableValue[])[]): Measure {
  const places = new Map<ComparableValue, number>();
  const numberOf = (value: ComparableValue) => {
    if (typeof value === 'number') return value;
    const place = places.get(value) ?? places.size;
    places.set(value, place);
    return place;
  };
  const numbers = units.map((unit) => unit.map(numberOf));
  return { name: 'krippendorff_alpha', ...alphaOf(numbers, type === 'numeric' ? 'interval' : 'nominal') };
}

/** The distance between the two: for categories 1 if they differ, or based on their order. */
export function distanceOf(type: ComparableType, { judge, people }: Judged, order?: readonly string[]): number {
  if (type === 'numeric') return Math.abs(Number(judge) - Number(people));
  if (judge === people) return 0;
  const [first, second] = [order?.indexOf(String(judge)) ?? -1, order?.indexOf(String(people)) ?? -1];
  return first < 0 || second < 0 ? 1 : Math.abs(first - second);
}
