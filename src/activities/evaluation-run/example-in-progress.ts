import type { Cost } from '../../domain/usage.ts';
import type { TellScores } from '../../evaluators/follow.ts';
import type { Stops } from './batch-watch.ts';

/** What an example has cost. */
export interface ExampleCost {
  /** The calls whose cost is known, in US dollars. */
  knownCostUsd: number;
  /** The share of an example's expected cost, 0..1 and more, that is in calls whose cost is unknown. */
  unknownShare: number;
  /**
   * How many times more it would have cost with the mostExpensive of the run's models; null where that can't be told, since it has cost
   * nothing with the one that responded. Default: 1
   */
  ratioToMostExpensive?: number | null;
}

/** Adds up what the calls for one example cost. */
export class CostTally {
  readonly #reservedUsd: number;
  #total: ExampleCost | undefined;
  #ratioToMostExpensive: number | null = 1;

  /** @param reservedUsd what was set aside for the example */
  constructor(reservedUsd: number) {
    this.#reservedUsd = reservedUsd;
  }

  /** Undefined where nothing was billed. */
  get total(): ExampleCost | undefined {
    return this.#total && { ...this.#total, ratioToMostExpensive: this.#ratioToMostExpensive };
  }

  /** Which of the run's models was billed, by how much dearer the mostExpensive is. */
  set ratioToMostExpensive(times: number | null) {
    this.#ratioToMostExpensive = times;
  }

  /**
   * @param share of what was set aside that is this call's
   * @returns what the call counts as against a budget, in US dollars, where its cost is unknown
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

/** An example while it goes through its steps. */
export interface ExampleInProgress {
  seq: number;
  stops: Stops;
  bill: CostTally;
  /** Told what the evaluators say. */
  tellScores?: TellScores;
}
