import type { Cost } from '../../domain/usage.ts';
import type { TellScores } from '../../evaluators/follow.ts';
import type { Stops } from './batch-watch.ts';

/** The cost of an example. */
export interface ExampleCost {
  /** Calls with known cost, in US dollars. */
  knownCostUsd: number;
  /** The share of an example's expected cost, from 0 (can exceed 1), that is in calls of unknown cost. */
  unknownShare: number;
  /**
   * How many times more the most expensive model of the run would have cost; null if unknown because the responding model cost
   * nothing. Default: 1
   */
  ratioToMostExpensive?: number | null;
}

/** Adds up the cost of the calls for one example. */
export class CostTally {
  readonly #reservedUsd: number;
  #total: ExampleCost | undefined;
  #ratioToMostExpensive: number | null = 1;

  /** @param reservedUsd the money reserved for the example */
  constructor(reservedUsd: number) {
    this.#reservedUsd = reservedUsd;
  }

  /** Undefined if nothing was billed. */
  get total(): ExampleCost | undefined {
    return this.#total && { ...this.#total, ratioToMostExpensive: this.#ratioToMostExpensive };
  }

  /** How much more the most expensive model of the run costs than the billed one. */
  set ratioToMostExpensive(times: number | null) {
    this.#ratioToMostExpensive = times;
  }

  /**
   * @param share of the reservation that belongs to this call
   * @returns the amount in US dollars that a call of unknown cost counts as against a budget
   */
  add({ amount }: Cost, share: number): number | undefined {
    const { knownCostUsd, unknownShare } = this.#total ?? { knownCostUsd: 0, unknownShare: 0 };
    this.#total =
      amount === null
        ? { knownCostUsd, unknownShare: unknownShare + share }
        : { knownCostUsd: knownCostUsd + Number(amount), unknownShare };
    return amount === null ? share * this.#reservedUsd : undefined;
  }
}

/** The state of an example while it goes through its steps. */
export interface ExampleInProgress {
  seq: number;
  stops: Stops;
  bill: CostTally;
  /** Receives the evaluators' scores. */
  tellScores?: TellScores;
}
