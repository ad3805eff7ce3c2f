/** The number of buckets of a rollout: one for each hundredth of a percent. */
export const BUCKETS = 10_000;

/** Keys with a lower bucket get the candidate. Rounded, because 1.1 × 100 is slightly more than 110. */
export const thresholdOf = (percent: number): number => Math.round(percent * (BUCKETS / 100));
