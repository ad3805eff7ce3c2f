const UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A time span for people, in the largest unit with a short number: `30 min`, `1.5 h`, `250 ms`. */
export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= size) return `${Math.round((ms / size) * 10) / 10} ${unit}`;
  return `${Math.round(ms)} ms`;
}
