import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { scoreOf } from '../../domain/analysis/check.ts';
import type { Measured, MonitorCheck, MonitorMetric } from '../../domain/monitors/monitor.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { armOf, describeArm, type MeasuredSums } from '../releases/numbers.ts';
import type { MonitorRow } from './monitors.ts';
import { ceilHour, hoursUntil, LATENCY_HOUR } from './sum-up-runs.ts';

const MINUTE_MS = 60_000;
/** Later runs are never summed up. */
const END = new Date('9999-01-01T00:00:00Z');

/** The measures that a metric is calculated from. Every run has a value for whether it failed. */
const MEASURES = {
  error_rate: ['error'],
  refusal_rate: ['error', 'refusal'],
  latency_p95: ['latency'],
  cost_mean: ['cost'],
  cost_total: ['error', 'cost'],
} as const;

const measuresOf = (metric: MonitorMetric): readonly string[] =>
  metric in MEASURES ? MEASURES[metric as keyof typeof MEASURES] : [metric];

/**
 * The sums of the minutes in the window; for latencies, sums of whole hours if available.
 * @param until the end of the window: runs are summed up to then
 */
function readSums(query: Query, { prompt_name, label, window, checks }: MonitorRow, until: Date) {
  const from = until.getTime() - spanMs(window) - MINUTE_MS;
  const hours = { from: new Date(ceilHour(from)), to: new Date(Math.max(hoursUntil(until), ceilHour(from))) };
  const measures = [...new Set(checks.flatMap(({ metric }) => measuresOf(metric)))];
  const others = measures.filter((name) => name !== 'latency');
  return query((db) =>
    db
      .selectFrom('run_minutes as r')
      .select([
        sql<string>`case when r.measure = ${sql.lit(LATENCY_HOUR)} then 'latency' else r.measure end`.as('measure'),
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
        const latency = [
          minutes(['latency'], new Date(from), hours.from),
          minutes([LATENCY_HOUR], new Date(hours.from.getTime() - 1), hours.to),
          minutes(['latency'], new Date(hours.to.getTime() - 1), END),
        ];
        return eb.or([minutes(others, new Date(from), END), ...(others.length < measures.length ? latency : [])]);
      })
      .$if(prompt_name !== null, (own) => own.where('r.prompt_name', '=', prompt_name ?? ''))
      .$if(label !== null, (own) => own.where('r.label', '=', label ?? ''))
      .groupBy(sql`1, 2`),
  );
}

function measure(metric: MonitorMetric, rows: readonly MeasuredSums[]): Measured {
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
    default:
      return { value: scores[scoreOf(metric) ?? ''] ?? null, count: count(metric) };
  }
}

/** What each check of a monitor measures, in their order. @param query of its workspace @param until the time up to which runs are summed up */
export async function measureChecks(query: Query, monitor: MonitorRow, until: Date): Promise<Measured[]> {
  const rows = await readSums(query, monitor, until);
  return monitor.checks.map(({ metric }: MonitorCheck) => measure(metric, rows));
}
