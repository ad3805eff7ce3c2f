import { type CostEstimate, guessCost, observeCost, reserveFor } from '../../domain/evaluations/cost-estimate.ts';
import type { ExampleCost } from './example-in-progress.ts';

export interface BatchBudgetOptions {
  /** US dollars that the batch may have cost in the end; null: no limit. */
  limitUsd: number | null;
  /** What it has cost before. */
  spentUsd: number;
  /** What one example costs as far as the run has seen, or the guess before. */
  estimate: CostEstimate;
  /** Whether this is all the money that the run has left: then all of it is to be used. */
  isAllThereIs: boolean;
}

/** Sums of floats that are meant to be equal differ by less. */
const ROUNDING = 1e-9;
/** No example costs so many times what a guess says: a full context and the longest response, where a few words were expected. */
export const COST_TO_GUESS = 10_000;

/**
 * What a batch may still spend. Money is reserved before each example, so a batch exceeds its limit by no more than what the
 * calls in flight cost above what was expected. How much is reserved follows the cost of the last examples. The less is known of
 * that cost, the fewer are in flight: see {@link window}.
 */
export class BatchBudget {
  readonly #limitUsd: number | null;
  readonly #isAllThereIs: boolean;
  #spentUsd: number;
  #inFlight = 0;
  /** Examples that were billed. */
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

  /** Examples that money is reserved for. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Reserves what one example may cost; undefined where less is left. */
  reserve(): number | undefined {
    const reserved = this.#affordable();
    if (reserved === undefined) return undefined;
    this.#inFlight += 1;
    return reserved;
  }

  /**
   * How many examples may be in flight. It starts slowly: at one, and each that is billed adds one, so that they double with each
   * wave. If what is left pays for more at any price, it starts at so many.
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
    // Examples in flight are expected to cost what is known by now, not what was reserved for them when they began.
    const remainingUsd = (this.#limitUsd - this.#spentUsd - this.#inFlight * wanted) * (1 + ROUNDING);
    if (wanted <= remainingUsd) return wanted;
    // The last of the money is used for one example at a time, without a margin. A guess by price alone prevents no attempt.
    if (!this.#isAllThereIs || this.#inFlight > 0 || remainingUsd <= 0) return undefined;
    const { meanUsd, examples } = this.#estimate;
    return examples === 0 || meanUsd <= remainingUsd ? meanUsd : undefined;
  }

  /**
   * Replaces what was reserved by the cost; a call of unknown cost counts as its share of what was reserved.
   * @param cost undefined where no call was made, or none was billed
   */
  settle(reservedUsd: number, cost: ExampleCost | undefined): void {
    this.#inFlight -= 1;
    if (cost === undefined) return;
    this.#billed += 1;
    this.#spentUsd += cost.knownCostUsd + cost.unknownShare * reservedUsd;
    // What is set aside must do for the mostExpensive model of the run: the next example may need it.
    const { ratioToMostExpensive = 1 } = cost;
    if (ratioToMostExpensive === null) return;
    // Without the margin: the estimate must not grow by its own margin.
    const assumedUsd = cost.unknownShare * ratioToMostExpensive * this.#estimate.meanUsd;
    this.#estimate = observeCost(this.#estimate, cost.knownCostUsd * ratioToMostExpensive + assumedUsd, assumedUsd);
  }
}

/** The estimate to begin with: the run's, or what the batch has cost before, or a guess. */
export function firstEstimate(
  ofRun: CostEstimate | undefined,
  before: { costUsd: number; examples: number },
  guessUsd: number,
): CostEstimate {
  if (ofRun !== undefined && ofRun.examples > 0) return ofRun;
  if (before.examples === 0) return guessCost(guessUsd);
  return { ...observeCost(guessCost(guessUsd), before.costUsd / before.examples), examples: before.examples };
}
