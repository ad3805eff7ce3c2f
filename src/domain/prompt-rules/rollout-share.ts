/** Shares of a rollout are cut into so many buckets: hundredths of a percent. */
export const BUCKETS = 10_000;

/** Whoever's bucket is below it gets the candidate. Rounded, since 1.1 × 100 is a little more than 110. */
export const thresholdOf = (percent: number): number => Math.round(percent * (BUCKETS / 100));
