/** The cost of one example of a run, as observed so far. */
export interface CostEstimate {
  /** US dollars. */
  meanUsd: number;
  /** The mean distance from the mean, US dollars. */
  deviationUsd: number;
  /** The number of examples it is based on; 0: guessed from the price. */
  examples: number;
}

/** The estimate follows the latest examples, so that it also falls after an expensive one. */
const WINDOW = 32;
/** The number of deviations reserved above the mean: as in RFC 6298 for round-trip times, with half of its margin. */
const MARGIN = 2;

/** The estimate before any example was observed. */
export function guessCost(usd: number): CostEstimate {
  return { meanUsd: usd, deviationUsd: 0, examples: 0 };
}

/** @param assumedUsd the part of `usd` that is unknown and was taken from the estimate */
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

/** The amount to reserve for one example, US dollars. */
export function reserveFor({ meanUsd, deviationUsd }: CostEstimate): number {
  return meanUsd + MARGIN * deviationUsd;
}
