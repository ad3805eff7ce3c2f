import { z } from 'zod';
import { type DifferenceEstimate, estimateDifference, MIN_DIFFERING_PAIRS } from './paired-difference.ts';
import { compareScores, meanScore, ownScore, roundScore } from './scoring.ts';

/** An example that scores differently in the two runs. Scores 0..1; `difference` is b's minus a's. */
const ChangedExample = z.strictObject({
  key: z.string(),
  score_a: z.number(),
  score_b: z.number(),
  difference: z.number(),
  /** Whether its model call failed for good in that run, which counts as 0. */
  failed_a: z.boolean(),
  failed_b: z.boolean(),
});

const ChangedExamples = z.strictObject({
  total: z.int(),
  /** The largest differences first; no more than the comparison was asked to list. */
  examples: z.array(ChangedExample),
});

const UnmatchedExamples = z.strictObject({ total: z.int(), keys: z.array(z.string()) });

const EvaluatorComparison = z.strictObject({
  name: z.string(),
  /** The mean over the examples compared; null when the run does not have this evaluator. */
  score_a: z.number().nullable(),
  score_b: z.number().nullable(),
  difference: z.number().nullable(),
  regressions: z.int(),
  improvements: z.int(),
  unchanged: z.int(),
});

/**
 * The answer of `GET /evaluations/{id}/compare/{other}`: `a` is `{id}` (before), `b` is `{other}` (after), and every
 * difference is b minus a. Scores are over the examples that both runs have, which need not be the scores of the runs.
 */
export const RunComparison = z.strictObject({
  a: z.string(),
  b: z.string(),
  examples_compared: z.int(),
  score_a: z.number().nullable(),
  score_b: z.number().nullable(),
  difference: z.number().nullable(),
  /** The 95 % interval of the difference of the means; null without a common example. */
  interval: z
    .strictObject({ low: z.number(), high: z.number(), method: z.enum(['paired_bootstrap', 'normal']) })
    .nullable(),
  /** Two-sided; null without a common example. */
  p_value: z.number().nullable(),
  verdict: z.enum([
    'regression',
    'improvement',
    'within_noise',
    'too_few_differences',
    'no_change',
    'nothing_in_common',
  ]),
  /** The verdict in words. */
  note: z.string(),
  regressions: ChangedExamples,
  improvements: ChangedExamples,
  unchanged: z.int(),
  only_in_a: UnmatchedExamples,
  only_in_b: UnmatchedExamples,
  by_evaluator: z.array(EvaluatorComparison),
});

export type RunComparison = z.infer<typeof RunComparison>;
type ChangedExample = z.infer<typeof ChangedExample>;
type Verdict = RunComparison['verdict'];

/** One example's outcome in a run to compare. */
export interface ComparedExample {
  /** The example's id, or the hash of its content where it has none. */
  key: string;
  /** 0..1, rounded to six decimals; 0 when it failed. */
  score: number;
  /** By evaluator; may be empty when it failed, which counts 0 for each of the run's evaluators. */
  scores: Readonly<Record<string, number>>;
  failed: boolean;
}

export interface ComparedRun {
  id: string;
  /** Names of the run's evaluators. */
  evaluators: readonly string[];
  examples: readonly ComparedExample[];
}

interface Pair {
  a: ComparedExample;
  b: ComparedExample;
}

/**
 * Compares two runs example by example. Examples are matched by key; of several with one key, the first with the first,
 * and so on. Scores that differ by less than 10⁻⁹ are the same.
 *
 * A difference is called real when its 95 % interval excludes 0 and p < 0.05: the interval alone is too narrow for few
 * examples, and the p-value alone says nothing of the size.
 *
 * @param listed at most so many examples or keys are listed in each group; totals always count all
 */
export function compareRuns(a: ComparedRun, b: ComparedRun, listed = 100): RunComparison {
  const { pairs, onlyInA, onlyInB } = matchExamples(a.examples, b.examples);
  const changed = pairs.map(toChangedExample);
  const regressions = changed.filter((example) => compareScores(example.score_b, example.score_a) < 0);
  const improvements = changed.filter((example) => compareScores(example.score_b, example.score_a) > 0);
  const estimate = pairs.length === 0 ? null : estimateDifference(changed.map((example) => example.difference));
  const differing = regressions.length + improvements.length;
  const verdict = judge(estimate, differing);
  return {
    a: a.id,
    b: b.id,
    examples_compared: pairs.length,
    score_a: meanScore(pairs.map((pair) => pair.a.score)),
    score_b: meanScore(pairs.map((pair) => pair.b.score)),
    difference: estimate?.mean ?? null,
    interval: estimate && { low: estimate.low, high: estimate.high, method: estimate.method },
    p_value: estimate?.pValue ?? null,
    verdict,
    note: [
      describe(verdict, estimate, pairs.length, differing),
      ...describeGaps(pairs, onlyInA.length + onlyInB.length),
    ].join(' '),
    regressions: largestFirst(regressions, listed),
    improvements: largestFirst(improvements, listed),
    unchanged: pairs.length - differing,
    only_in_a: { total: onlyInA.length, keys: onlyInA.slice(0, listed) },
    only_in_b: { total: onlyInB.length, keys: onlyInB.slice(0, listed) },
    by_evaluator: [...new Set([...a.evaluators, ...b.evaluators])].map((name) =>
      compareEvaluator(name, pairs, a.evaluators.includes(name), b.evaluators.includes(name)),
    ),
  };
}

function matchExamples(examplesA: readonly ComparedExample[], examplesB: readonly ComparedExample[]) {
  const byKey = Map.groupBy(examplesB, (example) => example.key);
  const taken = new Map<string, number>();
  const pairs: Pair[] = [];
  const onlyInA: string[] = [];
  for (const a of examplesA) {
    const nth = taken.get(a.key) ?? 0;
    const b = byKey.get(a.key)?.[nth];
    if (b === undefined) {
      onlyInA.push(a.key);
    } else {
      taken.set(a.key, nth + 1);
      pairs.push({ a, b });
    }
  }
  const onlyInB = [...byKey].flatMap(([key, examples]) => examples.slice(taken.get(key) ?? 0).map(() => key));
  return { pairs, onlyInA, onlyInB };
}

function toChangedExample({ a, b }: Pair): ChangedExample {
  return {
    key: a.key,
    score_a: a.score,
    score_b: b.score,
    difference: roundScore(b.score - a.score),
    failed_a: a.failed,
    failed_b: b.failed,
  };
}

function largestFirst(examples: ChangedExample[], listed: number) {
  const sorted = examples.toSorted((x, y) => Math.abs(y.difference) - Math.abs(x.difference));
  return { total: examples.length, examples: sorted.slice(0, listed) };
}

function compareEvaluator(name: string, pairs: readonly Pair[], inA: boolean, inB: boolean) {
  const scoresA = pairs.map((pair) => ownScore(pair.a.scores, name) ?? 0);
  const scoresB = pairs.map((pair) => ownScore(pair.b.scores, name) ?? 0);
  const scoreA = inA ? meanScore(scoresA) : null;
  const scoreB = inB ? meanScore(scoresB) : null;
  const orders = inA && inB ? scoresB.map((score, index) => compareScores(score, scoresA[index] ?? 0)) : [];
  return {
    name,
    score_a: scoreA,
    score_b: scoreB,
    difference: scoreA === null || scoreB === null ? null : roundScore(scoreB - scoreA),
    regressions: orders.filter((order) => order < 0).length,
    improvements: orders.filter((order) => order > 0).length,
    unchanged: orders.filter((order) => order === 0).length,
  };
}

function judge(estimate: DifferenceEstimate | null, differing: number): Verdict {
  if (estimate === null) return 'nothing_in_common';
  if (differing === 0) return 'no_change';
  if (differing < MIN_DIFFERING_PAIRS) return 'too_few_differences';
  if (estimate.pValue >= 0.05) return 'within_noise';
  if (estimate.high < 0) return 'regression';
  return estimate.low > 0 ? 'improvement' : 'within_noise';
}

function describe(verdict: Verdict, estimate: DifferenceEstimate | null, compared: number, differing: number): string {
  const over = `over ${compared} ${compared === 1 ? 'example' : 'examples'}`;
  if (estimate === null) return 'The runs have no example in common, so there is nothing to compare.';
  const interval = `95 % interval ${signed(estimate.low)} … ${signed(estimate.high)}`;
  const chance = estimate.pValue < 0.001 ? 'p < 0.001' : `p = ${estimate.pValue.toFixed(3)}`;
  const evidence = `${interval}, ${chance}, ${over}`;
  switch (verdict) {
    case 'regression':
      return `Likely a real regression: the mean score fell by ${Math.abs(estimate.mean).toFixed(3)} (${evidence}).`;
    case 'improvement':
      return `Likely a real improvement: the mean score rose by ${Math.abs(estimate.mean).toFixed(3)} (${evidence}).`;
    case 'too_few_differences':
      return `The difference of ${signed(estimate.mean)} ${over} comes from only ${differing} of them: too few to tell it from chance.`;
    case 'no_change':
      return `No difference: every score is the same ${over}.`;
    default:
      return `The difference of ${signed(estimate.mean)} is within noise: ${evidence}.`;
  }
}

function describeGaps(pairs: readonly Pair[], unmatched: number): string[] {
  const failedA = pairs.filter((pair) => pair.a.failed).length;
  const failedB = pairs.filter((pair) => pair.b.failed).length;
  const gaps: string[] = [];
  if (failedA + failedB > 0) gaps.push(`Failed calls, which count 0: ${failedA} in a, ${failedB} in b.`);
  if (unmatched > 0) gaps.push(`Left out, being in one run only: ${unmatched}.`);
  return gaps;
}

/** Three decimals with a sign; `0.000` without one. */
function signed(value: number): string {
  const text = value.toFixed(3);
  if (Number(text) === 0) return '0.000';
  return value > 0 ? `+${text}` : text;
}
