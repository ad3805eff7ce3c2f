import { type CostEstimate, guessCost, observeCost, reserveFor } from '../../domain/evaluations/cost-estimate.ts';
import type { ExampleCost } from './example-in-progress.ts';

export interface BatchBudgetOptions {
  /** US dollars that the batch can cost in total; null for no limit. */
  limitUsd: number | null;
  /** What it cost before this attempt. */
  spentUsd: number;
  /** The cost of one example as observed in the run, or an initial guess. */
  estimate: CostEstimate;
  /** Whether this is all the money that the run has left, so that all of it should be used. */
  isAllThereIs: boolean;
}

/** Float sums that should be equal differ by less than this. */
const ROUNDING = 1e-9;
/** Upper bound of actual cost relative to the guess: a full context and the longest response where a few words were expected. */
export const COST_TO_GUESS = 10_000;

/**
 * Tracks what a batch can still spend. Money is reserved before each example, so a batch exceeds its limit at most by the amount
 * that calls in flight cost above expectation. The reservation follows the cost of the last examples. The less is known of that
 * cost, the fewer are in flight: see {@link window}.
 */
export class BatchBudget {
  readonly #limitUsd: number | null;
  readonly #isAllThereIs: boolean;
  #spentUsd: number;
  #inFlight = 0;
  /** Number of billed examples. */
  #billed: number;
  #estimate: CostEstimate;

  constructor({ limitUsd, spentUsd, estimate, isAllThereIs }: BatchBudgetOptions) {
    this.#limitUsd = limitUsd;
    this.#isAllThereIs = isAllThereIs;
    this.#spentUsd = spentUsd;
    this.#estimate = estimate;
    this.#billed = estimate.examples;
  }

  get estimate(): CostEstimate {
    return this.#estimate;
  }

  /** What the batch has cost so far. */
  get spentUsd(): number {
    return this.#spentUsd;
  }

  /** Examples with reserved money. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Reserves the money for one example; undefined if less is left. */
  reserve(): number | undefined {
    const reserved = this.#affordable();
    if (reserved === undefined) return undefined;
    this.#inFlight += 1;
    return reserved;
  }

  /**
   * The number of examples that can be in flight. It starts at one, and each billed example adds one, so it doubles with each
   * wave. It starts higher if the money is enough at any price.
   */
  get window(): number {
    const dearestUsd = COST_TO_GUESS * reserveFor(this.#estimate);
    if (this.#limitUsd === null || dearestUsd === 0) return Number.POSITIVE_INFINITY;
    return (this.#billed + 1) * Math.max(1, (this.#limitUsd - this.#spentUsd) / dearestUsd);
  }

  #affordable(): number | undefined {
    const wanted = reserveFor(this.#estimate);
    if (this.#limitUsd === null) return wanted;
    if (this.#inFlight + 1 > this.window) return undefined;
    // Examples in flight are expected to cost the current estimate, not what was reserved when they started.
    const remainingUsd = (this.#limitUsd - this.#spentUsd - this.#inFlight * wanted) * (1 + ROUNDING);
    if (wanted <= remainingUsd) return wanted;
    // The last of the money goes to one example at a time, without a margin. A price guess alone prevents no attempt.
    if (!this.#isAllThereIs || this.#inFlight > 0 || remainingUsd <= 0) return undefined;
    const { meanUsd, examples } = this.#estimate;
    return examples === 0 || meanUsd <= remainingUsd ? meanUsd : undefined;
  }

  /**
   * Replaces a reservation by the actual cost; a call of unknown cost counts as its share of the reservation.
   * @param cost undefined if no call was made or billed
   */
  settle(reservedUsd: number, cost: ExampleCost | undefined): void {
    this.#inFlight -= 1;
    if (cost === undefined) return;
    this.#billed += 1;
    this.#spentUsd += cost.knownCostUsd + cost.unknownShare * reservedUsd;
    // The reservation must cover the most expensive model of the run, which the next example may need.
    const { ratioToMostExpensive = 1 } = cost;
    if (ratioToMostExpensive === null) return;
    // Without the margin: the estimate must not grow by its own margin.
    const assumedUsd = cost.unknownShare * ratioToMostExpensive * this.#estimate.meanUsd;
    this.#estimate = observeCost(this.#estimate, cost.knownCostUsd * ratioToMostExpensive + assumedUsd, assumedUsd);
  }
}

/** The initial estimate: from the run, from earlier attempts at the batch, or a guess. */
export function firstEstimate(
  ofRun: CostEstimate | undefined,
  before: { costUsd: number; examples: number },
  guessUsd: number,
): CostEstimate {
  if (ofRun !== undefined && ofRun.examples > 0) return ofRun;
  if (before.examples === 0) return guessCost(guessUsd);
  return { ...observeCost(guessCost(guessUsd), before.costUsd / before.examples), examples: before.examples };
}
