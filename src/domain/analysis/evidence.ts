import { logBeta } from './log-beta.ts';

/**
 * The observations of one arm, as evidence against each possible value of its true mean. `exp(against(mean))` is an e-process: if
 * `mean` is the true one, it is a non-negative supermartingale that starts at 1, so that it ever reaches 1 / alpha with a
 * probability of at most alpha (Ville's inequality), however often it is checked.
 */
export interface Evidence {
  /** Natural logarithm; falls up to `estimate` and rises from there. Infinite if `mean` is impossible. */
  against: (mean: number) => number;
  /** The observed mean. */
  estimate: number;
  /** The possible means. */
  min: number;
  max: number;
}

/**
 * The evidence of a rate, from counts: Robbins' mixture over a beta distribution (that of Jeffreys, so that the frequency of events need not
 * be known in advance). Exact for any number of executions.
 *
 * Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical Statistics 41 (1970); Howard, Ramdas,
 * McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of Statistics 49 (2021), proposition 7.
 */
export function rateEvidence(events: number, count: number): Evidence {
  return {
    against: betaBinomial(events, count),
    estimate: count === 0 ? 0.5 : events / count,
    min: 0,
    max: 1,
  };
}

const JEFFREYS = 0.5;

/** Holds for values between 0 and 1 as for events: no such value varies more than an event of the same mean. */
function betaBinomial(sum: number, count: number): Evidence['against'] {
  const mixture = logBeta(JEFFREYS + sum, JEFFREYS + count - sum) - logBeta(JEFFREYS, JEFFREYS);
  return (mean) => mixture - times(sum, Math.log(mean)) - times(count - sum, Math.log1p(-mean));
}

/** 0 × −∞ is 0: an event that never happened is not evidence. */
const times = (count: number, logarithm: number) => (count <= 0 ? 0 : count * logarithm);

/**
 * Bets of several sizes, each a third of the previous one: a bet that is wrong by √3 wins 90 % as much as the right one. With
 * none above 0.58 the evidence rises all the way from the observed mean to 0 and 1: λ / 2ψ(λ) ≥ 1.
 */
const BETS = Array.from({ length: 5 }, (_, index) => 0.58 / 3 ** index);
/** Fan's −ln(1 − λ) − λ: the amount by which a bet's logarithm may fall short, for each squared distance. */
const ROUGHNESS = BETS.map((bet) => -Math.log1p(-bet) - bet);

/**
 * The evidence of the mean of values within a known range, from count, sum and squares. Half of the mixture is the evidence of a rate,
 * which is best for values at the ends of the range; the other half bets, which is best for values that vary little. Exact for
 * any number of executions. Bets use the inequality exp(λx − ψ(λ)x²) ≤ 1 + λx for x ≥ −1 (Fan, Grama and Liu, "Exponential
 * inequalities for martingales with applications", Electronic Journal of Probability 20 (2015)), with the distances from the mean
 * in question, so that the order of the values does not matter.
 *
 * Howard et al. (2021), as above; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", Journal of
 * the Royal Statistical Society B 86 (2024).
 */
export function boundedEvidence(
  { count, sum, squares }: { count: number; sum: number; squares: number },
  { min, max }: { min: number; max: number },
): Evidence {
  const width = max - min;
  const scaledSum = (sum - count * min) / width;
  const scaledSquares = (squares - 2 * min * sum + count * min * min) / (width * width);
  const asRate = betaBinomial(scaledSum, count);
  const share = Math.log(4 * BETS.length);
  const against = (mean: number) => {
    const scaled = (mean - min) / width;
    const distance = scaledSum - count * scaled;
    const spread = Math.max(0, scaledSquares - 2 * scaled * scaledSum + count * scaled * scaled);
    const logs = [asRate(scaled) - Math.LN2];
    for (const [index, bet] of BETS.entries()) {
      const cost = (ROUGHNESS[index] ?? 0) * spread + share;
      logs.push(bet * distance - cost, -bet * distance - cost);
    }
    return logOfSum(logs);
  };
  return { against, estimate: count === 0 ? (min + max) / 2 : sum / count, min, max };
}

function logOfSum(logs: readonly number[]): number {
  const largest = Math.max(...logs);
  if (!Number.isFinite(largest)) return largest;
  return largest + Math.log(logs.reduce((total, log) => total + Math.exp(log - largest), 0));
}

/** One element of a confidence sequence: the true value is between these, at all times of checking together with a probability of 1 − alpha. */
export interface Bounds {
  lower: number;
  upper: number;
}

/** The means that are not yet ruled out. */
export function boundsOf(evidence: Evidence, alpha: number): Bounds {
  const enough = -Math.log(alpha);
  return { lower: lowest(evidence, enough), upper: highest(evidence, enough) };
}

/**
 * The differences (candidate minus stable) that are not yet ruled out. The product of two independent e-processes is an e-process
 * for the pair of true means; these are the differences in the region of pairs that it does not rule out. So the evidence of both
 * arms adds up, and the past and future split of the traffic does not matter.
 */
export function differenceBounds(candidate: Evidence, stable: Evidence, alpha: number): Bounds {
  const enough = -Math.log(alpha);
  const leastC = candidate.against(candidate.estimate);
  const leastS = stable.against(stable.estimate);
  // The evidence not used against the mean of one arm remains for the mean of the other.
  const upper = (used: number) => highest(candidate, used) - lowest(stable, enough - used);
  const lower = (used: number) => highest(stable, enough - used) - lowest(candidate, used);
  return { lower: -largest(lower, leastC, enough - leastS), upper: largest(upper, leastC, enough - leastS) };
}

const highest = (evidence: Evidence, enough: number) => crossing(evidence, evidence.max, enough);
const lowest = (evidence: Evidence, enough: number) => crossing(evidence, evidence.min, enough);

/** A millionth of the way to the end is precise enough. */
const PRECISION = 1e-6;
const MAX_STEPS = 60;

/** The mean farthest from the estimate, towards `end`, with at most `enough` evidence against it. Approached from outside. */
function crossing({ against, estimate }: Evidence, end: number, enough: number): number {
  let within = estimate;
  let without = end;
  let missing = against(within) - enough;
  let excess = against(without) - enough;
  if (!(excess > 0) || within === without) return without;
  if (missing >= 0) return within;
  const precision = PRECISION * Math.abs(without - within);
  // Regula falsi (Illinois), and bisection while one end is infinite.
  let lastSide = 0;
  for (let step = 0; step < MAX_STEPS && Math.abs(without - within) > precision; step += 1) {
    const next =
      excess === Number.POSITIVE_INFINITY || step % 3 === 2
        ? (within + without) / 2
        : (within * excess - without * missing) / (excess - missing);
    const value = against(next) - enough;
    if (value > 0) {
      without = next;
      excess = value;
      if (lastSide === 1) missing /= 2;
      lastSide = 1;
    } else {
      within = next;
      missing = value;
      if (lastSide === -1) excess /= 2;
      lastSide = -1;
    }
  }
  return without;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** A function is flat at its maximum, so a three-hundredth of the range is close enough. */
const SEARCH_STEPS = 12;

/** The maximum of a function that rises and then falls. */
function largest(of: (at: number) => number, from: number, to: number): number {
  let low = from;
  let high = to;
  let left = high - GOLDEN * (high - low);
  let right = low + GOLDEN * (high - low);
  let atLeft = of(left);
  let atRight = of(right);
  for (let step = 0; step < SEARCH_STEPS; step += 1) {
    if (atLeft > atRight) {
      [high, right, atRight] = [right, left, atLeft];
      left = high - GOLDEN * (high - low);
      atLeft = of(left);
    } else {
      [low, left, atLeft] = [left, right, atRight];
      right = low + GOLDEN * (high - low);
      atRight = of(right);
    }
  }
  return Math.max(atLeft, atRight);
}
