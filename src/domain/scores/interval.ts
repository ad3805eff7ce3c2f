/** A 95 % interval. */
export interface Interval {
  lower: number;
  upper: number;
}

/** The 97.5th percentile of the normal distribution: how many standard errors a 95 % interval reaches to each side. */
export const Z_95 = 1.959963984540054;

/** An estimate with its interval; null where the data allow neither, or not that one. */
export interface Estimate {
  value: number | null;
  interval: Interval | null;
}

/** An interval of what lies between −1 and 1, by its standard error. */
export function normalInterval(value: number, standardError: number): Interval {
  return { lower: Math.max(-1, value - Z_95 * standardError), upper: Math.min(1, value + Z_95 * standardError) };
}
