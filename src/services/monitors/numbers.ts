import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { isOfTraces, scoreOf, TRACE, withoutTrace } from '../../domain/analysis/check.ts';
import {
  KEPT_LONGER_MS,
  MAX_WINDOW_MS,
  type Measured,
  type MonitorCheck,
  type MonitorMetric,
} from '../../domain/monitors/monitor.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { armOf, describeArm, type MeasuredSums } from '../releases/numbers.ts';
import type { MonitorRow } from './monitors.ts';
import { ceilHour, hoursUntil, LATENCY_HOURS } from './sum-up-runs.ts';

const MINUTE_MS = 60_000;
/** The maximum number of points of a series, and of the time that their windows cover together, since each one is read separately. */
const MAX_POINTS = 48;
const MAX_READ_MS = 6 * MAX_WINDOW_MS;

/** The measures that a metric is calculated from. Every run has a value for whether it failed. */
const MEASURES = {
  error_rate: ['error'],
  refusal_rate: ['error', 'refusal'],
  latency_p95: ['latency'],
  cost_mean: ['cost'],
  cost_total: ['error', 'cost'],
  steps_mean: ['steps'],
} as const;

function measuresOf(metric: MonitorMetric): readonly string[] {
  const own = withoutTrace(metric);
  const measures: readonly string[] = own in MEASURES ? MEASURES[own as keyof typeof MEASURES] : [own];
  return isOfTraces(metric) ? measures.map((name) => `${TRACE}${name}`) : measures;
}

const HOURS = new Map(Object.entries(LATENCY_HOURS));
const measureName = sql<string>`case ${sql.join(
  [...HOURS].map(([measure, hour]) => sql`when r.measure = ${sql.lit(hour)} then ${sql.lit(measure)}`),
  sql` `,
)} else r.measure end`;

/**
 * The sums of the minutes in the window; for latencies, sums of whole hours if available.
 * @param until the end of the window: runs are summed up to then
 */
function readSums(query: Query, { prompt_name, label, window, checks }: MonitorRow, until: Date) {
  const from = until.getTime() - spanMs(window) - MINUTE_MS;
  const hours = { from: new Date(ceilHour(from)), to: new Date(Math.max(hoursUntil(until), ceilHour(from))) };
  const measures = [...new Set(checks.flatMap(({ metric }) => measuresOf(metric)))];
  const [ofTraces, ofRuns] = [measures.filter(isOfTraces), measures.filter((name) => !isOfTraces(name))];
  return query((db) =>
    db
      .selectFrom('run_minutes as r')
      .select([
        measureName.as('measure'),
        'r.bucket',
        sql<number>`sum(r.count)::float8`.as('count'),
        sql<number>`sum(r.total)`.as('total'),
        sql<number>`sum(r.squares)`.as('squares'),
      ])
      .where((eb) => {
        const minutes = (names: readonly string[], after: Date, before: Date) =>
          eb.and([
            eb('r.measure', '=', sql<string>`any(${names}::text[])`),
            eb('r.starts_at', '>', after),
            eb('r.starts_at', '<', before),
          ]);
        const sums = (names: readonly string[]) => {
          const latency = names.filter((name) => HOURS.has(name));
          const wholeHours = latency.map((name) => HOURS.get(name) ?? '');
          const others = names.filter((name) => !HOURS.has(name));
          return eb.or([
            minutes(others, new Date(from), until),
            minutes(latency, new Date(from), hours.from),
            minutes(wholeHours, new Date(hours.from.getTime() - 1), hours.to),
            minutes(latency, new Date(hours.to.getTime() - 1), until),
          ]);
        };
        return eb.or([
          eb.and([
            sums(ofRuns),
            ...(prompt_name === null ? [] : [eb('r.prompt_name', '=', prompt_name)]),
            ...(label === null ? [] : [eb('r.label', '=', label)]),
          ]),
          // The sums of all traces have no prompt.
          eb.and([sums(ofTraces), eb('r.prompt_name', '=', prompt_name ?? '')]),
        ]);
      })
      .groupBy(sql`1, 2`),
  );
}

function measure(metric: string, rows: readonly MeasuredSums[]): Measured {
  if (isOfTraces(metric)) {
    const ofTraces = rows.filter((row) => isOfTraces(row.measure));
    return measure(
      withoutTrace(metric),
      ofTraces.map((row) => ({ ...row, measure: withoutTrace(row.measure) })),
    );
  }
  const count = (name: string) => rows.reduce((sum, row) => (row.measure === name ? sum + row.count : sum), 0);
  const { executions, error_rate, latency_p95_ms, cost_mean, cost_total, scores } = describeArm(armOf(rows));
  switch (metric) {
    case 'error_rate':
      return { value: error_rate, count: executions };
    case 'refusal_rate':
      return { value: executions === 0 ? null : count('refusal') / executions, count: executions };
    case 'latency_p95':
      return { value: latency_p95_ms, count: count('latency') };
    case 'cost_mean':
      return { value: cost_mean, count: count('cost') };
    case 'cost_total':
      return { value: cost_total, count: executions };
    case 'steps_mean': {
      const steps = rows.reduce((sum, row) => (row.measure === 'steps' ? sum + row.total : sum), 0);
      return { value: count('steps') === 0 ? null : steps / count('steps'), count: count('steps') };
    }
    default:
      return { value: scores[scoreOf(metric) ?? ''] ?? null, count: count(metric) };
  }
}

/** What each check of a monitor measures, in their order. @param query of its workspace @param until the time up to which runs are summed up */
export async function measureChecks(query: Query, monitor: MonitorRow, until: Date): Promise<Measured[]> {
  const rows = await readSums(query, monitor, until);
  return monitor.checks.map(({ metric }: MonitorCheck) => measure(metric, rows));
}

/**
 * What the checks of a monitor measure in windows that end at regular times, oldest first, up to its last measurement: as far as the sums by
 * minute go back.
 */
export async function readSeries(query: Query, monitor: MonitorRow): Promise<{ at: Date; values: Measured[] }[]> {
  const { last_checked_at: last } = monitor;
  if (last === null) return [];
  const window = spanMs(monitor.window);
  const points = Math.min(MAX_POINTS, Math.floor(MAX_READ_MS / window));
  const step = Math.min(window / 3, (MAX_WINDOW_MS + KEPT_LONGER_MS - window) / points);
  const stepMs = Math.max(1, Math.floor(step / MINUTE_MS)) * MINUTE_MS;
  const end = Math.floor(last.getTime() / MINUTE_MS) * MINUTE_MS;
  const series: { at: Date; values: Measured[] }[] = [];
  for (let before = points - 1; before >= 0; before -= 1) {
    const at = new Date(end - before * stepMs);
    series.push({ at, values: await measureChecks(query, monitor, at) });
  }
  return series;
}
