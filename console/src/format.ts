import { LOCALE, t } from './strings.ts';

/** English texts use American numbers and British dates. */
export const NUMBERS = LOCALE === 'en' ? 'en-US' : LOCALE;
const DATES = LOCALE === 'en' ? 'en-GB' : LOCALE;

const numbers = new Intl.NumberFormat(NUMBERS);
const small = new Intl.NumberFormat(NUMBERS, { maximumSignificantDigits: 2, maximumFractionDigits: 10 });
const compact = new Intl.NumberFormat(NUMBERS, { notation: 'compact', maximumFractionDigits: 1 });
const fixed = [0, 1, 2].map(
  (digits) =>
    new Intl.NumberFormat(NUMBERS, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    }),
);
const times = new Intl.DateTimeFormat(DATES, { dateStyle: 'medium', timeStyle: 'medium' });
const days = new Intl.DateTimeFormat(DATES, { dateStyle: 'medium', timeZone: 'UTC' });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });

/** Shown for a missing value. */
export const NONE = '–';

export const formatNumber = (value: number | null | undefined) => (value == null ? NONE : numbers.format(value));

/** A fixed number of decimals, without thousands separators. */
export const formatFixed = (value: number, digits: 0 | 1 | 2) => fixed[digits]?.format(value) ?? '';

/** One decimal, unless it is zero. */
export const formatTenth = (value: number) => formatFixed(value, Number.isInteger(Number(value.toFixed(1))) ? 0 : 1);

/** Formats 12,300 as 12.3K. */
export const formatCount = (value: number | null | undefined) => (value == null ? NONE : compact.format(value));

/** In the zone of the browser. */
export const formatTime = (time: string | null | undefined) => (time ? times.format(new Date(time)) : NONE);

/** A day from the API, which is in UTC. */
export const formatDay = (day: string) => days.format(new Date(day));

const shortDays = new Intl.DateTimeFormat(DATES, { day: 'numeric', month: 'short' });
const shortDaysUtc = new Intl.DateTimeFormat(DATES, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const moments = new Intl.DateTimeFormat(DATES, { timeStyle: 'short' });

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
  return unit === 'second' && Math.abs(seconds) < 5 ? t('just now') : relative.format(Math.trunc(seconds / size), unit);
}

/** Milliseconds, in a suitable unit. */
export function formatMs(ms: number | null | undefined): string {
  if (ms == null) return NONE;
  if (ms < 1_000) return t(`${Math.round(ms)} ms`);
  if (ms < 60_000) return t(`${formatFixed(ms / 1_000, ms < 10_000 ? 2 : 1)} s`);
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1_000);
  return minutes < 60 ? t(`${minutes} min ${seconds} s`) : t(`${formatFixed(ms / 3_600_000, 1)} h`);
}

/** A decimal string of US dollars; two significant digits for small amounts. Null if the price is unknown. */
export function formatCost(cost: { amount: string | null } | null | undefined): string {
  if (cost?.amount == null) return NONE;
  const amount = Number(cost.amount);
  if (amount === 0) return '$0';
  if (amount >= 1) return `$${formatFixed(amount, 2)}`;
  return `$${small.format(amount)}`;
}

/** A score from 0 to 1 as a percentage. */
export const formatScore = (score: number | null | undefined) =>
  score == null ? NONE : `${formatTenth(score * 100)} %`;

/** Pretty-printed JSON. */
export const formatJson = (value: unknown) => JSON.stringify(value, undefined, 2) ?? '';

/** The start of a day, or of the day after it, in the zone of the browser. A time is returned unchanged. */
export function dayStart(day: string | undefined, daysLater = 0): string | undefined {
  if (day?.includes('T') && !Number.isNaN(Date.parse(day))) return day;
  const date = day === undefined ? undefined : new Date(`${day}T00:00:00`);
  if (date === undefined || Number.isNaN(date.getTime())) return undefined;
  date.setDate(date.getDate() + daysLater);
  return date.toISOString();
}

/** `1 call`, `1,200 calls`. The surrounding texts are translated together with it, in the plural forms of the language. */
export const plural = (count: number, one: string, many: string) =>
  `${formatNumber(count)} ${pluralWord(count, one, many)}`;

/** The same without the number: `is`, `are`. */
export const pluralWord = (count: number, one: string, many: string) => (count === 1 ? one : many);

const rules = new Intl.PluralRules(LOCALE);

/** Replaces `plural` in a build for another language: the form for a count, which receives the formatted number. */
export const pluralOf = <Form>(
  count: number,
  forms: Partial<Record<Intl.LDMLPluralRule, (count: string) => Form>>,
): Form | undefined => (forms[rules.select(count)] ?? forms.other)?.(formatNumber(count));
