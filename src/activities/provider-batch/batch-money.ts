import { type CostEstimate, reserveFor } from '../../domain/evaluations/cost-estimate.ts';

/** What a call costs, in US dollars, as far as its request tells. */
export interface CallPrice {
  /** Its input, and the judges' calls about its response: most of the length is known. */
  certainUsd: number;
  /** With the output that is expected. */
  expectedUsd: number;
  /** With the longest output that the request allows, or more than any model gives. */
  mostUsd: number;
}

export interface BatchMoneyOptions {
  /** What the batch's calls may cost; infinite where there is no limit. */
  remainingUsd: number;
  /** Calls of the run that are in other batches, which have not ended. */
  callsElsewhere: number;
  /** What calls of this kind have cost in the run. */
  known: CostEstimate;
}

/**
 * What the calls of one batch may cost together. Its provider makes them all at once, and none can be held back later: so it has the calls
 * that fit into the money at the most that they can cost. Beyond that it starts slowly: with one call until a cost is known, then with as
 * many as were billed before, at what those have cost.
 */
export class BatchMoney {
  readonly #remainingUsd: number;
  readonly #callsElsewhere: number;
  readonly #known: CostEstimate;
  #calls = 0;
  #mostUsd = 0;
  #likelyUsd = 0;

  constructor({ remainingUsd, callsElsewhere, known }: BatchMoneyOptions) {
    this.#remainingUsd = remainingUsd;
    this.#callsElsewhere = callsElsewhere;
    this.#known = known;
  }

  /** What is to be set aside for the calls so far, US dollars. */
  get reservedUsd(): number {
    return Number.isFinite(this.#remainingUsd) && this.#mostUsd <= this.#remainingUsd ? this.#mostUsd : this.#likelyUsd;
  }

  /** @returns false, and the call is left out, where the money does not do for it */
  add(price: CallPrice): boolean {
    const mostUsd = this.#mostUsd + price.mostUsd;
    const likelyUsd = this.#likelyUsd + this.#likely(price);
    if (mostUsd > this.#remainingUsd && !this.#mayTry(price, likelyUsd)) return false;
    this.#calls += 1;
    this.#mostUsd = mostUsd;
    this.#likelyUsd = likelyUsd;
    return true;
  }

  #likely({ certainUsd, expectedUsd, mostUsd }: CallPrice): number {
    const { examples } = this.#known;
    return Math.min(mostUsd, examples === 0 ? expectedUsd : certainUsd + reserveFor(this.#known));
  }

  /** Whether a call is added though it could cost more than is left. */
  #mayTry({ certainUsd }: CallPrice, likelyUsd: number): boolean {
    const { examples, meanUsd } = this.#known;
    const calls = this.#callsElsewhere + this.#calls + 1;
    if (calls > examples + 1) return false;
    if (likelyUsd <= this.#remainingUsd) return true;
    // The last of the money is used for one call at a time, without a margin.
    return calls === 1 && examples > 0 && Math.max(certainUsd, meanUsd) <= this.#remainingUsd;
  }
}
