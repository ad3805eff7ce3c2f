import {
  type ChangedExample,
  type ComparisonSums,
  compareSums,
  type EvaluatorSums,
  type RunComparison,
} from '../../src/domain/evaluations/comparison.ts';
import { MAX_RESAMPLED_PAIRS } from '../../src/domain/evaluations/paired-difference.ts';
import { roundScore, SCORE_EPSILON } from '../../src/domain/evaluations/scoring.ts';

/** One example's outcome in a run to compare. */
export interface ComparedExample {
  /** The example's id, or the hash of its content if it has none. */
  key: string;
  /** 0..1, rounded to six decimals; 0 if it failed; null if an evaluator gave none. */
  score: number | null;
  /** By evaluator; can be empty if it failed, which counts 0 for each of the run's evaluators. Null for no score. */
  scores: Readonly<Record<string, number | null>>;
  failed: boolean;
}

export interface ComparedRun {
  id: string;
  /** Names of the run's evaluators. */
  evaluators: readonly string[];
  examples: readonly ComparedExample[];
}

/** The score with this name, ignoring inherited properties such as `constructor`. */
function ownScore({ scores, failed }: ComparedExample, name: string): number | null {
  if (failed) return 0;
  return Object.hasOwn(scores, name) ? (scores[name] ?? null) : null;
}

/** -1 if `score` is lower than `reference`, 1 if it is higher, 0 if they are equal within float noise. */
function compareScores(score: number, reference: number): -1 | 0 | 1 {
  if (score < reference - SCORE_EPSILON) return -1;
  return score > reference + SCORE_EPSILON ? 1 : 0;
}

type Scored = ComparedExample & { score: number };

interface Pair<Example = ComparedExample> {
  a: Example;
  b: Example;
  seqA: number;
  seqB: number;
}

const isScored = (pair: Pair): pair is Pair<Scored> => pair.a.score !== null && pair.b.score !== null;

const millionths = (scores: readonly number[]) => scores.reduce((sum, score) => sum + Math.round(score * 1e6), 0);

/**
 * The sums of two runs, computed from all of their examples in memory: a simple reference for the service's SQL. Examples are
 * matched by key; duplicates in order.
 */
export function sumsOf(a: ComparedRun, b: ComparedRun, listed = 100): ComparisonSums {
  const { pairs: all, onlyInA, onlyInB } = matchExamples(a.examples, b.examples);
  const pairs = all.filter(isScored);
  const changed = pairs.map(toChangedExample);
  const differences = changed.map(({ difference }) => difference);
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / differences.length;
  const reasonOf = (name: string) => (a.evaluators.includes(name) ? 'only_in_a' : 'only_in_b');
  const names = [...new Set([...a.evaluators, ...b.evaluators])];
  const isShared = (name: string) => a.evaluators.includes(name) && b.evaluators.includes(name);
  return {
    comparable: names.some(isShared),
    leftOut: names.filter((name) => !isShared(name)).map((name) => ({ name, reason: reasonOf(name) })),
    compared: pairs.length,
    unscored: all.length - pairs.length,
    millionthsA: millionths(pairs.map((pair) => pair.a.score)),
    millionthsB: millionths(pairs.map((pair) => pair.b.score)),
    failedA: pairs.filter((pair) => pair.a.failed).length,
    failedB: pairs.filter((pair) => pair.b.failed).length,
    regressions: largestFirst(
      changed.filter((each) => compareScores(each.score_b, each.score_a) < 0),
      listed,
    ),
    improvements: largestFirst(
      changed.filter((each) => compareScores(each.score_b, each.score_a) > 0),
      listed,
    ),
    onlyInA: { total: onlyInA.length, keys: onlyInA.slice(0, listed) },
    onlyInB: { total: onlyInB.length, keys: onlyInB.slice(0, listed) },
    differences: pairs.length <= MAX_RESAMPLED_PAIRS ? differences : null,
    squares: differences.reduce((sum, difference) => sum + (difference - mean) ** 2, 0),
    evaluators: names.map((name) => evaluatorSums(name, pairs, a, b)),
  };
}

export function compareRuns(a: ComparedRun, b: ComparedRun, listed = 100): RunComparison {
  return compareSums(a.id, b.id, sumsOf(a, b, listed));
}

function evaluatorSums(name: string, pairs: readonly Pair[], a: ComparedRun, b: ComparedRun): EvaluatorSums {
  const inA = a.evaluators.includes(name);
  const inB = b.evaluators.includes(name);
  const scored = pairs
    .map((pair) => [inA ? ownScore(pair.a, name) : 0, inB ? ownScore(pair.b, name) : 0])
    .filter((scores): scores is [number, number] => scores.every((score) => score !== null));
  const scoresA = scored.map(([score]) => score);
  const scoresB = scored.map(([, score]) => score);
  const orders = inA && inB ? scoresB.map((score, index) => compareScores(score, scoresA[index] ?? 0)) : [];
  return {
    name,
    compared: scored.length,
    millionthsA: inA ? millionths(scoresA) : null,
    millionthsB: inB ? millionths(scoresB) : null,
    regressions: orders.filter((order) => order < 0).length,
    improvements: orders.filter((order) => order > 0).length,
  };
}

function matchExamples(examplesA: readonly ComparedExample[], examplesB: readonly ComparedExample[]) {
  const byKey = Map.groupBy(
    examplesB.map((example, seq) => ({ example, seq })),
    ({ example }) => example.key,
  );
  const taken = new Map<string, number>();
  const pairs: Pair[] = [];
  const onlyInA: string[] = [];
  for (const [seqA, a] of examplesA.entries()) {
    const nth = taken.get(a.key) ?? 0;
    const b = byKey.get(a.key)?.[nth];
    if (b === undefined) {
      onlyInA.push(a.key);
    } else {
      taken.set(a.key, nth + 1);
      pairs.push({ a, b: b.example, seqA, seqB: b.seq });
    }
  }
  const onlyInB = [...byKey].flatMap(([key, examples]) => examples.slice(taken.get(key) ?? 0).map(() => key));
  return { pairs, onlyInA, onlyInB };
}

function toChangedExample({ a, b, seqA, seqB }: Pair<Scored>): ChangedExample {
  return {
    key: a.key,
    seq_a: seqA,
    seq_b: seqB,
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
