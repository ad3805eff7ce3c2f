/** What one example of a run costs, as far as has been seen. */
export interface CostEstimate {
  /** US dollars. */
  meanUsd: number;
  /** The mean distance from the mean, US dollars. */
  deviationUsd: number;
  /** How many examples it is from; 0: a guess from the price. */
  examples: number;
}

/** The estimate follows the last examples, so that it also falls after an expensive one. */
const WINDOW = 32;
/** So many deviations above the mean are reserved: as RFC 6298 does for round-trip times, with half of its margin. */
const MARGIN = 2;

/** Before any example was seen. */
export function guessCost(usd: number): CostEstimate {
  return { meanUsd: usd, deviationUsd: 0, examples: 0 };
}

/** @param assumedUsd the part of `usd` that is not known, but was taken from the estimate */
export function observeCost(estimate: CostEstimate, usd: number, assumedUsd = 0): CostEstimate {
  const examples = estimate.examples + 1;
  if (examples === 1) return { meanUsd: usd, deviationUsd: (usd - assumedUsd) / 2, examples };
  const weight = 1 / Math.min(examples, WINDOW);
  return {
    meanUsd: estimate.meanUsd + weight * (usd - estimate.meanUsd),
    deviationUsd: estimate.deviationUsd + weight * (Math.abs(usd - estimate.meanUsd) - estimate.deviationUsd),
    examples,
  };
}

/** The money to reserve for one example, US dollars. */
export function reserveFor({ meanUsd, deviationUsd }: CostEstimate): number {
  return meanUsd + MARGIN * deviationUsd;
}
