/** Several measurements of the same thing. */
export interface Spread {
  min: number;
  median: number;
  max: number;
}

/** @throws Error without values */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)];
  const lower = sorted[Math.ceil(middle) - 1];
  if (upper === undefined || lower === undefined) throw new Error('There is no median of nothing.');
  return (upper + lower) / 2;
}

/**
 * The value that this share of the values does not exceed.
 * @throws Error without values
 */
export function quantile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)];
  if (value === undefined) throw new Error('There is no quantile of nothing.');
  return value;
}

/** @throws Error without values */
export function spreadOf(values: readonly number[]): Spread {
  return { min: Math.min(...values), median: median(values), max: Math.max(...values) };
}
