import { invalidField } from '../../domain/errors.ts';

export const DAY_MS = 24 * 60 * 60 * 1_000;
/** How far back statistics reach unless `since` is given. */
export const DEFAULT_DAYS = 7;
export const MAX_DAYS = 90;

/** From `since` until before `until`. */
export interface StatisticsSpan {
  since: Date;
  until: Date;
}

/**
 * The span that a caller requests; `until` is at the latest now.
 * @throws ApiError `invalid_request` if it is empty or longer than {@link MAX_DAYS}
 */
export function statisticsSpan(since: Date | undefined, until: Date | undefined, now: Date): StatisticsSpan {
  const to = until === undefined || until > now ? now : until;
  const from = since ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  if (from >= to) throw invalidField('since', 'must be before until, and before now');
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    throw invalidField('since', `must be at most ${MAX_DAYS} days before until, which defaults to now`);
  return { since: from, until: to };
}
