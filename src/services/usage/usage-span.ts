const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;
/** Times in this range are exact, because the single entries still exist: they are kept for an hour longer. */
const EXACT_MS = 2 * HOUR_MS;

/** A time span, and its whole hours and days, whose sums are stored. */
export interface UsageSpan {
  since: Date;
  until: Date;
  hoursFrom: Date;
  hoursTo: Date;
  daysFrom: Date;
  daysTo: Date;
}

const floor = (ms: number, unitMs: number) => Math.floor(ms / unitMs) * unitMs;
const ceil = (ms: number, unitMs: number) => Math.ceil(ms / unitMs) * unitMs;

/**
 * The span from `since` up to, but excluding, `until`. A time within the last two hours is exact; an earlier one is extended to the
 * whole hour, so that the span is fully included. Nothing is created after `now`, so a later `until` includes the whole last hour.
 */
export function usageSpan(since: Date, until: Date, now: Date): UsageSpan {
  const isExact = (ms: number) => now.getTime() - ms < EXACT_MS;
  const from = isExact(since.getTime()) ? since.getTime() : floor(since.getTime(), HOUR_MS);
  const takesInLast = until >= now;
  const to = !takesInLast && isExact(until.getTime()) ? until.getTime() : ceil(until.getTime(), HOUR_MS);
  const hoursFrom = ceil(from, HOUR_MS);
  const hoursTo = Math.max(floor(to, HOUR_MS), hoursFrom);
  const wholeDays = ceil(hoursFrom, DAY_MS) <= floor(hoursTo, DAY_MS);
  return {
    since: new Date(from),
    until: new Date(to),
    hoursFrom: new Date(hoursFrom),
    hoursTo: new Date(hoursTo),
    daysFrom: new Date(wholeDays ? ceil(hoursFrom, DAY_MS) : hoursTo),
    daysTo: new Date(wholeDays ? floor(hoursTo, DAY_MS) : hoursTo),
  };
}
