import { type CostEstimate, reserveFor } from '../../domain/evaluations/cost-estimate.ts';

/** The cost of a call in US dollars, as far as its request reveals it. */
export interface CallPrice {
  /** Its input, and the judges' calls about its response, whose length is mostly known. */
  certainUsd: number;
  /** With the expected output. */
  expectedUsd: number;
  /** With the longest output that the request allows, or more than any model produces. */
  mostUsd: number;
}

export interface BatchMoneyOptions {
  /** The money for the batch's calls; infinite without a limit. */
  remainingUsd: number;
  /** Calls of the run in other batches that have not ended. */
  callsElsewhere: number;
  /** What calls of this kind have cost in the run. */
  known: CostEstimate;
}

/**
 * Limits the total cost of a batch's calls. The provider makes them all at once, and none can be held back later, so the batch
 * takes calls while their maximum cost fits. Beyond that it starts slowly: with one call until a cost is known, then with as many
 * as were billed before, at their cost.
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

  /** The money to reserve for the calls so far, in US dollars. */
  get reservedUsd(): number {
    return Number.isFinite(this.#remainingUsd) && this.#mostUsd <= this.#remainingUsd ? this.#mostUsd : this.#likelyUsd;
  }

  /** @returns false, leaving the call out, if the money does not cover it */
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

  /** Whether a call is added even though it could cost more than is left. */
  #mayTry({ certainUsd }: CallPrice, likelyUsd: number): boolean {
    const { examples, meanUsd } = this.#known;
    const calls = this.#callsElsewhere + this.#calls + 1;
    if (calls > examples + 1) return false;
    if (likelyUsd <= this.#remainingUsd) return true;
    // The last of the money goes to one call at a time, without a margin.
    return calls === 1 && examples > 0 && Math.max(certainUsd, meanUsd) <= this.#remainingUsd;
  }
}
