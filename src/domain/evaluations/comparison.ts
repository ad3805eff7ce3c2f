import {
  type DifferenceEstimate,
  estimateDifference,
  estimateFromSums,
  MIN_DIFFERING_PAIRS,
} from './paired-difference.ts';
import type { Preference } from './preference.ts';
import { roundScore } from './scoring.ts';
import type { LeftOutEvaluator } from './shared-evaluators.ts';

export const VERDICTS = [
  'regression',
  'improvement',
  'within_noise',
  'too_few_differences',
  'no_change',
  'nothing_in_common',
] as const;
type Verdict = (typeof VERDICTS)[number];

/** Why there is no verdict. */
export const WITHHELD = ['not_comparable', 'failures'] as const;

/** An example with different scores in the two runs. Scores 0..1; `difference` is b's minus a's. */
export interface ChangedExample {
  key: string;
  /** Its position among the examples of that run. */
  seq_a: number;
  seq_b: number;
  score_a: number;
  score_b: number;
  difference: number;
  /** Whether its model call failed permanently in that run, which counts as 0. */
  failed_a: boolean;
  failed_b: boolean;
}

interface ChangedExamples {
  total: number;
  /** The largest differences first; at most as many as the comparison was asked to list. */
  examples: ChangedExample[];
}

interface UnmatchedExamples {
  total: number;
  keys: string[];
}

interface EvaluatorComparison {
  name: string;
  /** The mean over the compared examples; null if the run does not have this evaluator. */
  score_a: number | null;
  score_b: number | null;
  difference: number | null;
  regressions: number;
  improvements: number;
  unchanged: number;
}

/** The compared examples with the same value of a metadata key. */
interface GroupComparison {
  /** As text. Null if they have no such key. */
  value: string | null;
  examples: number;
  score_a: number;
  score_b: number;
  difference: number;
  interval: RunComparison['interval'];
  verdict: Verdict;
  regressions: number;
  improvements: number;
}

/** How run `b` (after) differs from run `a` (before), over the examples that both have. Every difference is b minus a. */
export interface RunComparison {
  /** Public ids. */
  a: string;
  b: string;
  examples_compared: number;
  /** Examples of both runs without a score from an evaluator in one of them. They are not compared. */
  examples_unscored?: number | undefined;
  score_a: number | null;
  score_b: number | null;
  difference: number | null;
  /** The 95 % interval of the difference of the means; null if there is no common example. */
  interval: Pick<DifferenceEstimate, 'low' | 'high' | 'method'> | null;
  /** Two-sided; null if there is no common example. */
  p_value: number | null;
  verdict: Verdict;
  /** Why there is no verdict: the runs share no unchanged evaluator, or too many examples failed. Null if there is one. */
  withheld: (typeof WITHHELD)[number] | null;
  /** Whether the runs share an unchanged evaluator. If not, there are no scores. */
  comparable: boolean;
  /** Evaluators that the scores and the verdict exclude. */
  left_out_evaluators: LeftOutEvaluator[];
  /** The verdict in words. */
  note: string;
  regressions: ChangedExamples;
  improvements: ChangedExamples;
  unchanged: number;
  only_in_a: UnmatchedExamples;
  only_in_b: UnmatchedExamples;
  by_evaluator: EvaluatorComparison[];
  /** If groups were requested: the largest first. */
  by_group?: { total: number; groups: GroupComparison[] } | undefined;
  /** If judges of `b` have compared its outputs with those of `a`. */
  preferences?: Preference[] | undefined;
  /** If they were requested. */
  unchanged_examples?: ChangedExample[] | undefined;
}

/** The combined data of two runs: sums over the examples that both have, and the largest changes. */
export interface ComparisonSums {
  /** Whether the runs share an unchanged evaluator. */
  comparable: boolean;
  leftOut: LeftOutEvaluator[];
  compared: number;
  /** Examples of both runs without a score in one of them. */
  unscored: number;
  /** Sums of scores in whole millionths. */
  millionthsA: number;
  millionthsB: number;
  failedA: number;
  failedB: number;
  regressions: RunComparison['regressions'];
  improvements: RunComparison['improvements'];
  onlyInA: RunComparison['only_in_a'];
  onlyInB: RunComparison['only_in_b'];
  /** Every difference (b minus a), if there are at most `MAX_RESAMPLED_PAIRS`. */
  differences: readonly number[] | null;
  /** The sum of the squared distances of the differences from their mean. */
  squares: number;
  evaluators: readonly EvaluatorSums[];
  groups?: { total: number; sums: readonly GroupSums[] };
  unchangedExamples?: ChangedExample[];
}

/** The sums over the examples of one group. */
export interface GroupSums extends Pick<ComparisonSums, 'millionthsA' | 'millionthsB' | 'differences' | 'squares'> {
  value: string | null;
  compared: number;
  regressions: number;
  improvements: number;
}

/** The sums of one evaluator's scores. */
export interface EvaluatorSums {
  name: string;
  /** The compared examples that it has scored. */
  compared: number;
  /** Null if the run does not have this evaluator. */
  millionthsA: number | null;
  millionthsB: number | null;
  /** Among the compared examples; 0 if one of the runs does not have it. */
  regressions: number;
  improvements: number;
}

/**
 * Compares two runs. A difference is called real when its 95 % interval excludes 0, which is when p < 0.05.
 *
 * @param a public id of the run before
 * @param b public id of the run after
 */
export function compareSums(a: string, b: string, sums: ComparisonSums): RunComparison {
  const { compared, regressions, improvements } = sums;
  if (!sums.comparable) return incomparable(a, b, sums);
  const differing = regressions.total + improvements.total;
  const estimate = estimateOf({ ...sums, differing });
  const isWithheld = hasManyFailures(sums);
  const verdict = isWithheld ? NOTHING_TO_TELL : judge(estimate, differing);
  return {
    a,
    b,
    withheld: isWithheld ? 'failures' : null,
    comparable: true,
    left_out_evaluators: sums.leftOut,
    examples_compared: compared,
    examples_unscored: sums.unscored,
    score_a: meanOf(sums.millionthsA, compared),
    score_b: meanOf(sums.millionthsB, compared),
    difference: estimate?.mean ?? null,
    interval: estimate && { low: estimate.low, high: estimate.high, method: estimate.method },
    p_value: estimate?.pValue ?? null,
    verdict,
    note: [
      isWithheld
        ? `No verdict over ${compared} ${compared === 1 ? 'example' : 'examples'}: more than a tenth of the examples failed${sums.unscored > 0 ? ' or have no score' : ''}.`
        : describe(verdict, estimate, compared, differing),
      ...describeGaps(sums),
    ].join(' '),
    regressions,
    improvements,
    unchanged: compared - differing,
    only_in_a: sums.onlyInA,
    only_in_b: sums.onlyInB,
    by_evaluator: sums.evaluators.map((evaluator) => compareEvaluator(evaluator)),
    ...(sums.groups && {
      by_group: { total: sums.groups.total, groups: sums.groups.sums.map((group) => compareGroup(group, isWithheld)) },
    }),
    ...(sums.unchangedExamples && { unchanged_examples: sums.unchangedExamples }),
  };
}

/** The verdict that callers know for an inconclusive difference. */
const NOTHING_TO_TELL = 'too_few_differences';

/**
 * The share of failed or unscored examples in one of the runs from which no verdict is given: the scores would then say more
 * about the failures than about the prompt.
 */
const MAX_FAILED_SHARE = 0.1;

const hasManyFailures = ({ compared, unscored, failedA, failedB }: ComparisonSums) =>
  Math.max(failedA, failedB) + unscored > (compared + unscored) * MAX_FAILED_SHARE;

/** Two runs without a common evaluator: their scores measure different things. */
function incomparable(a: string, b: string, sums: ComparisonSums): RunComparison {
  const none = { total: 0, examples: [] };
  return {
    a,
    b,
    withheld: 'not_comparable',
    comparable: false,
    left_out_evaluators: sums.leftOut,
    examples_compared: sums.compared,
    examples_unscored: sums.unscored,
    score_a: null,
    score_b: null,
    difference: null,
    interval: null,
    p_value: null,
    verdict: 'nothing_in_common',
    note: `Not comparable: the runs have no unchanged evaluator in common. ${describeLeftOut(sums.leftOut)}`.trim(),
    regressions: none,
    improvements: none,
    unchanged: 0,
    only_in_a: sums.onlyInA,
    only_in_b: sums.onlyInB,
    by_evaluator: sums.evaluators.map((evaluator) => compareEvaluator(evaluator)),
    ...(sums.groups && { by_group: { total: 0, groups: [] } }),
    ...(sums.unchangedExamples && { unchanged_examples: [] }),
  };
}

const REASONS: Record<LeftOutEvaluator['reason'], string> = {
  only_in_a: 'only in a',
  only_in_b: 'only in b',
  changed: 'changed',
};

const describeLeftOut = (leftOut: readonly LeftOutEvaluator[]) =>
  leftOut.length === 0
    ? ''
    : `Evaluators left out: ${leftOut.map(({ name, reason }) => `${name} (${REASONS[reason]})`).join(', ')}.`;

function compareGroup(sums: GroupSums, isWithheld: boolean): GroupComparison {
  const { value, compared, regressions, improvements } = sums;
  const differing = regressions + improvements;
  const estimate = estimateOf({ ...sums, differing });
  return {
    value,
    examples: compared,
    score_a: meanOf(sums.millionthsA, compared) ?? 0,
    score_b: meanOf(sums.millionthsB, compared) ?? 0,
    difference: estimate?.mean ?? 0,
    interval: estimate && { low: estimate.low, high: estimate.high, method: estimate.method },
    verdict: isWithheld ? NOTHING_TO_TELL : judge(estimate, differing),
    regressions,
    improvements,
  };
}

type PairSums = Pick<ComparisonSums, 'compared' | 'differences' | 'millionthsA' | 'millionthsB' | 'squares'> & {
  differing: number;
};

function estimateOf({
  compared,
  differences,
  millionthsA,
  millionthsB,
  differing,
  squares,
}: PairSums): DifferenceEstimate | null {
  if (compared === 0) return null;
  if (differences !== null) return estimateDifference(differences);
  const mean = (millionthsB - millionthsA) / 1_000_000 / compared;
  return estimateFromSums({ pairs: compared, differing, mean, squares });
}

function meanOf(millionths: number | null, count: number): number | null {
  return millionths === null || count === 0 ? null : Math.round(millionths / count) / 1_000_000;
}

function compareEvaluator({
  name,
  compared,
  millionthsA,
  millionthsB,
  regressions,
  improvements,
}: EvaluatorSums): RunComparison['by_evaluator'][number] {
  const scoreA = meanOf(millionthsA, compared);
  const scoreB = meanOf(millionthsB, compared);
  const isInBoth = millionthsA !== null && millionthsB !== null;
  return {
    name,
    score_a: scoreA,
    score_b: scoreB,
    difference: scoreA === null || scoreB === null ? null : roundScore(scoreB - scoreA),
    regressions,
    improvements,
    unchanged: isInBoth ? compared - regressions - improvements : 0,
  };
}

function judge(estimate: DifferenceEstimate | null, differing: number): Verdict {
  if (estimate === null) return 'nothing_in_common';
  if (differing === 0) return 'no_change';
  if (differing < MIN_DIFFERING_PAIRS) return 'too_few_differences';
  if (estimate.high < 0) return 'regression';
  return estimate.low > 0 ? 'improvement' : 'within_noise';
}

function describe(verdict: Verdict, estimate: DifferenceEstimate | null, compared: number, differing: number): string {
  const over = `over ${compared} ${compared === 1 ? 'example' : 'examples'}`;
  if (estimate === null) return 'The runs have no example in common, so there is nothing to compare.';
  const interval = `95 % CI ${points(estimate.low)} to ${points(estimate.high)}`;
  const evidence = `${interval}, ${chance(estimate.pValue)}, ${over}`;
  const size = points(Math.abs(estimate.mean)).replace('+', '');
  switch (verdict) {
    case 'regression':
      return `Likely a real regression: the mean score fell by ${size} points (${evidence}).`;
    case 'improvement':
      return `Likely a real improvement: the mean score rose by ${size} points (${evidence}).`;
    case 'too_few_differences':
      return `The difference of ${points(estimate.mean)} points ${over} comes from only ${differing} of them: too few to rule out chance.`;
    case 'no_change':
      return `No difference: every score is the same ${over}.`;
    default:
      return `The difference of ${points(estimate.mean)} points is within noise: ${evidence}.`;
  }
}

function describeGaps({ failedA, failedB, unscored, onlyInA, onlyInB, leftOut }: ComparisonSums): string[] {
  const unmatched = onlyInA.total + onlyInB.total;
  const gaps: string[] = [];
  if (failedA + failedB > 0) gaps.push(`Failed calls, counted as 0: ${failedA} in a, ${failedB} in b.`);
  if (unscored > 0) gaps.push(`Left out, without a score in one of the runs: ${unscored}.`);
  if (unmatched > 0) gaps.push(`Excluded because only one run has them: ${unmatched}.`);
  if (leftOut.length > 0) gaps.push(describeLeftOut(leftOut));
  return gaps;
}

/** With enough decimals not to look like 0.05 or more. */
function chance(p: number): string {
  if (p < 0.001) return 'p < 0.001';
  const text = p.toFixed(3);
  return `p = ${p < 0.05 && text === '0.050' ? p.toFixed(6) : text}`;
}

/** In percentage points with a sign, and with enough decimals not to look like 0. */
export function points(difference: number): string {
  if (difference === 0) return '0.0';
  const size = Math.abs(difference * 100);
  const text = [1, 2, 3, 4].map((digits) => size.toFixed(digits)).find((each) => Number(each) > 0);
  return `${difference > 0 ? '+' : '−'}${text ?? size}`;
}
