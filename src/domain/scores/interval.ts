/** A 95 % interval. */
export interface Interval {
  lower: number;
  upper: number;
}

/** The 97.5th percentile of the normal distribution: the number of standard errors of a 95 % interval to each side. */
export const Z_95 = 1.959963984540054;

/** An estimate with its interval; null if the data do not allow them. */
export interface Estimate {
  value: number | null;
  interval: Interval | null;
}

/** The interval of a value between −1 and 1, from its standard error. */
export function normalInterval(value: number, standardError: number): Interval {
  return { lower: Math.max(-1, value - Z_95 * standardError), upper: Math.min(1, value + Z_95 * standardError) };
}
