import { SCORE_EPSILON } from '../evaluations/scoring.ts';
import type { CandidateKind, StopReason } from './candidate.ts';
import { type Draw, shuffled } from './random.ts';

/** The score of an example as it counts, 0..1; null if a judge gave none. */
type ExampleScore = number | null;

/** A candidate that was checked. */
export interface PoolMember {
  number: number;
  /** On the check examples, in the same order for all members. */
  scores: readonly ExampleScore[];
  /** Characters of its wording. */
  length: number;
}

const RESTART_EVERY = 8;
const FEW_SHOT_EVERY = 4;
/** The share of failing examples in a minibatch. */
const FAILING_SHARE = 7 / 8;

/** @param number counted from 1 @param shots the number of examples that the prompt may still get */
export function kindOf(number: number, shots: number): CandidateKind {
  if (number % RESTART_EVERY === RESTART_EVERY - 1) return 'restart';
  return shots > 0 && number % FEW_SHOT_EVERY === FEW_SHOT_EVERY - 1 ? 'few_shot' : 'reflect';
}

const isPass = (score: ExampleScore | undefined) => (score ?? 0) >= 1 - SCORE_EPSILON;

/** Whether nothing can be learned from these results. */
export const areAllPassing = (scores: readonly ExampleScore[]): boolean => scores.every(isPass);

/** 0 without a score. */
export function meanScore(scores: readonly ExampleScore[]): number {
  const known = scores.filter((score) => score !== null);
  return known.length === 0 ? 0 : known.reduce((sum, score) => sum + score, 0) / known.length;
}

function dominates(a: PoolMember, b: PoolMember): boolean {
  if (a === b) return false;
  const gains = a.scores.map((score, index) => (score ?? 0) - (b.scores[index] ?? 0));
  if (gains.some((gain) => gain < -SCORE_EPSILON)) return false;
  return a.number < b.number || gains.some((gain) => gain > SCORE_EPSILON);
}

/**
 * How often each candidate is the best of an example, by number. Candidates that another one equals or beats on every example get
 * no votes. If several are equally good, the one with the best mean gets the vote: most scores are 0 or 1, and otherwise an early
 * candidate would be drawn for examples that all later ones have right, too.
 */
export function parentVotes(pool: readonly PoolMember[]): Map<number, number> {
  const front = pool
    .filter((member) => !pool.some((other) => dominates(other, member)))
    .map(({ number, scores }) => ({ number, scores, mean: meanScore(scores) }))
    .sort((a, b) => b.mean - a.mean || a.number - b.number);
  const votes = new Map<number, number>();
  const examples = Math.max(0, ...front.map(({ scores }) => scores.length));
  for (let index = 0; index < examples; index += 1) {
    const best = Math.max(...front.map(({ scores }) => scores[index] ?? 0));
    const chosen = front.find(({ scores }) => (scores[index] ?? 0) >= best - SCORE_EPSILON);
    if (chosen !== undefined) votes.set(chosen.number, (votes.get(chosen.number) ?? 0) + 1);
  }
  return votes;
}

/** Draws a parent, each with a chance in proportion to its votes. @returns its number; 0, the base, without votes */
export function drawParent(pool: readonly PoolMember[], draw: Draw): number {
  const votes = [...parentVotes(pool)].sort(([a], [b]) => a - b);
  let left = draw() * votes.reduce((sum, [, count]) => sum + count, 0);
  for (const [number, count] of votes) {
    left -= count;
    if (left < 0) return number;
  }
  return 0;
}

/** What is known of a train example. */
export interface TrainExample {
  key: string;
  /** Its latest score along the line of the parent. */
  score: ExampleScore;
  /** The number of minibatches that it was in. */
  uses: number;
}

/**
 * Seven of eight examples fail as far as is known: only these can show that a change helps, and what it breaks is seen when it is
 * checked. The least used come first.
 * @returns keys
 */
export function chooseMinibatch(train: readonly TrainExample[], size: number, draw: Draw): string[] {
  const byUse = shuffled(train, draw).sort((a, b) => a.uses - b.uses);
  const failing = byUse.filter(({ score }) => !isPass(score));
  const passing = byUse.filter(({ score }) => isPass(score));
  const wanted = Math.max(Math.round(size * FAILING_SHARE), size - passing.length);
  const chosen = failing.slice(0, wanted);
  return [...chosen, ...passing.slice(0, size - chosen.length)].map(({ key }) => key);
}

/** Whether a child gained on the minibatch, so that it is checked. Examples without a score on one side don't count. */
export function hasGained(parent: readonly ExampleScore[], child: readonly ExampleScore[]): boolean {
  return sumOf(pairs(parent, child)) > SCORE_EPSILON;
}

/** The differences (b minus a) of examples that have both scores. */
function pairs(a: readonly ExampleScore[], b: readonly ExampleScore[]): number[] {
  return a.flatMap((score, index) => {
    const other = b[index] ?? null;
    return score === null || other === null ? [] : [other - score];
  });
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

export interface SearchProgress {
  /** Proposals so far, whatever became of them. */
  proposals: number;
  /** The best mean on the check examples so far, and the number of its candidate. */
  best: { number: number; score: number };
  maxProposals: number;
  patience: number;
  /** Whether another round can be paid. */
  isAffordable: boolean;
  isFinished: boolean;
  isPastDeadline: boolean;
}

/** Why the search ends before the next round; undefined if it continues. */
export function stopReason(progress: SearchProgress): StopReason | undefined {
  const { proposals, best } = progress;
  if (progress.isFinished) return 'finished';
  if (isPass(best.score)) return 'perfect';
  if (progress.isPastDeadline) return 'deadline';
  if (proposals >= progress.maxProposals) return 'max_proposals';
  if (proposals - best.number >= progress.patience) return 'patience';
  return progress.isAffordable ? undefined : 'max_cost';
}

/** Half of the standard error of the mean difference is close enough to prefer the shorter prompt. */
const CLOSE = 0.5;

/**
 * The candidate to test: the best on the check examples, or the shortest of those that chance may have put just behind it. It must
 * beat the mean of the base's two runs.
 *
 * @param pool including the base
 * @param baseAgain the base's second run on the check examples
 */
export function chooseFinalist(
  pool: readonly PoolMember[],
  baseAgain: readonly ExampleScore[],
): PoolMember | undefined {
  const base = pool.find(({ number }) => number === 0);
  const toBeat = base === undefined ? 0 : (meanScore(base.scores) + meanScore(baseAgain)) / 2;
  const better = pool.filter(({ number, scores }) => number !== 0 && meanScore(scores) > toBeat + SCORE_EPSILON);
  const [best] = [...better].sort(
    (a, b) => meanScore(b.scores) - meanScore(a.scores) || a.length - b.length || a.number - b.number,
  );
  if (best === undefined) return undefined;
  const [shortest] = better
    .filter((member) => isClose(member, best))
    .sort((a, b) => a.length - b.length || a.number - b.number);
  return shortest ?? best;
}

function isClose(member: PoolMember, best: PoolMember): boolean {
  const differences = pairs(member.scores, best.scores);
  const count = differences.length;
  if (count < 2) return member === best;
  const mean = sumOf(differences) / count;
  const variance = sumOf(differences.map((each) => (each - mean) ** 2)) / (count - 1);
  return mean <= CLOSE * Math.sqrt(variance / count) + SCORE_EPSILON;
}
