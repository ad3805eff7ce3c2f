/** A point in time for people, to the second: `2026-01-31 12:00:05 UTC`. */
export function clockText(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
