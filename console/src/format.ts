const numbers = new Intl.NumberFormat('en-US');
const small = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2, maximumFractionDigits: 10 });
const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const times = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** What stands in place of a value that there is not. */
export const NONE = '–';

export const formatNumber = (value: number | null | undefined) => (value == null ? NONE : numbers.format(value));

/** 12,300 as 12.3K. */
export const formatCount = (value: number | null | undefined) => (value == null ? NONE : compact.format(value));

/** In the zone of the browser. */
export const formatTime = (time: string | null | undefined) => (time ? times.format(new Date(time)) : NONE);

/** A day of the API, which is one in UTC. */
export const formatDay = (day: string) => days.format(new Date(day));

const shortDays = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const shortDaysUtc = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const moments = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });

/** A day on an axis: "1 Feb". */
export const formatShortDay = (time: number, inUtc: boolean) => (inUtc ? shortDaysUtc : shortDays).format(time);

/** A time of a day on an axis: "14:05". */
export const formatMoment = (time: number) => moments.format(time);

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** "3 hr. ago" */
export function formatAgo(time: string | null | undefined): string {
  if (!time) return NONE;
  const seconds = (Date.parse(time) - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const);
  return unit === 'second' && Math.abs(seconds) < 5 ? 'just now' : relative.format(Math.trunc(seconds / size), unit);
}

/** Milliseconds, in a unit that suits. */
export function formatMs(ms: number | null | undefined): string {
  if (ms == null) return NONE;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 60 ? `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s` : `${(ms / 3_600_000).toFixed(1)} h`;
}

/** A decimal string of US dollars; two digits that count where it is little. Null: the price is not known. */
export function formatCost(cost: { amount: string | null } | null | undefined): string {
  if (cost?.amount == null) return NONE;
  const amount = Number(cost.amount);
  if (amount === 0) return '$0';
  if (amount >= 1) return `$${amount.toFixed(2)}`;
  return `$${small.format(amount)}`;
}

/** A score from 0 to 1 as a percentage. */
export const formatScore = (score: number | null | undefined) =>
  score == null ? NONE : `${(score * 100).toFixed(1).replace(/\.0$/, '')} %`;

/** JSON to read. */
export const formatJson = (value: unknown) => JSON.stringify(value, undefined, 2) ?? '';

/** The start of a day, or of the one after it, in the zone of the browser. */
export function dayStart(day: string | undefined, daysLater = 0): string | undefined {
  const date = day === undefined ? undefined : new Date(`${day}T00:00:00`);
  if (date === undefined || Number.isNaN(date.getTime())) return undefined;
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
}

/** `1 call`, `1,200 calls`. */
export const plural = (count: number, one: string, many: string) =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;
