import { formatDay, formatMoment, formatShortDay } from '../format.ts';
import { type Event, Plot, type PlotProps, type Series } from './plot.tsx';

export type { Series };

const DAY_MS = 86_400_000;
/** Distances between axis labels, in milliseconds. */
const STEPS = [60_000, 300_000, 900_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 43_200_000];
const MOST_TICKS = 8;

/** The unit of a chart's times. */
export interface TimeUnit {
  /** Heading of their column. */
  title: string;
  seconds: number;
  format: (time: string) => string;
}

/** Marks at points in time, in order. */
export type ChartEvents = readonly { at: string; label: string }[];

const DAYS: TimeUnit = { title: 'Day', seconds: 86_400, format: formatDay };

/** Round times within a span: days if it is long, otherwise hours or minutes. */
function timeTicks(from: number, to: number, ofDays: boolean): { at: number; label: string }[] {
  const wanted = (to - from) / MOST_TICKS;
  const short = ofDays || to - from > 3 * DAY_MS ? undefined : STEPS.find((step) => step >= wanted);
  const step = short ?? Math.max(1, Math.ceil(wanted / DAY_MS)) * DAY_MS;
  // Days of the API are in UTC; hours are in the reader's zone.
  const offset = ofDays ? 0 : new Date(from).getTimezoneOffset() * 60_000;
  const ticks: { at: number; label: string }[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step)
    ticks.push({ at, label: short === undefined ? formatShortDay(at, ofDays) : formatMoment(at) });
  return ticks;
}

/**
 * Lines over time, or bars.
 * @param days as in the API, in order; in another unit if `unit` is set
 * @param span of the axis; default: from the first to the last, at least two units
 */
export function Chart({
  days,
  unit = DAYS,
  span,
  events = [],
  ...rest
}: Pick<PlotProps, 'title' | 'series' | 'format' | 'stacked' | 'max' | 'note'> & {
  days: readonly string[];
  unit?: TimeUnit;
  span?: { since: string; until: string };
  events?: ChartEvents;
}) {
  const xs = days.map((day) => Date.parse(day));
  const [first, last] = [
    Math.min(span ? Date.parse(span.since) : Number.POSITIVE_INFINITY, xs[0] ?? Date.now()),
    Math.max(span ? Date.parse(span.until) : 0, xs.at(-1) ?? Date.now()),
  ];
  const padding = Math.max(rest.stacked ? (unit.seconds * 1000) / 2 : 0, unit.seconds * 1000 - (last - first) / 2, 0);
  const domain = [first - padding, last + padding] as const;
  const shown: Event[] = events.map(({ at, label }) => ({ at: Date.parse(at), label }));
  return (
    <Plot
      {...rest}
      xs={xs}
      domain={domain}
      xTicks={timeTicks(domain[0], domain[1], unit === DAYS)}
      names={days.map(unit.format)}
      xTitle={unit.title}
      events={shown.filter(({ at }) => at >= domain[0] && at <= domain[1])}
    />
  );
}
