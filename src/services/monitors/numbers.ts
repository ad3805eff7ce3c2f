import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { ago } from '../../db/sql.ts';
import type { Measured, MonitorCheck, MonitorMetric } from '../../domain/monitors/monitor.ts';
import { spanMs } from '../../domain/releases/release.ts';
import { armOf, describeArm, type MeasuredSums } from '../releases/numbers.ts';
import type { MonitorRow } from './monitors.ts';

const MINUTE_MS = 60_000;
const SCORE = 'score:';

/** The measures that a metric is made of. Whether a run failed is measured of each. */
const MEASURES = {
  error_rate: ['error'],
  refusal_rate: ['error', 'refusal'],
  latency_p95: ['latency'],
  cost_mean: ['cost'],
  cost_total: ['error', 'cost'],
} as const;

const measuresOf = (metric: MonitorMetric): readonly string[] =>
  metric in MEASURES ? MEASURES[metric as keyof typeof MEASURES] : [metric];

/** The sums of the minutes that the window reaches into. */
const readSums = (query: Query, { prompt_name, label, window, checks }: MonitorRow) =>
  query((db) =>
    db
      .selectFrom('run_minutes as r')
      .select(['r.measure', 'r.bucket'])
      .select([
        sql<number>`sum(r.count)::float8`.as('count'),
        sql<number>`sum(r.total)`.as('total'),
        sql<number>`sum(r.squares)`.as('squares'),
      ])
      .where('r.measure', 'in', [...new Set(checks.flatMap(({ metric }) => measuresOf(metric)))])
      .where('r.starts_at', '>', ago(spanMs(window) + MINUTE_MS))
      .$if(prompt_name !== null, (own) => own.where('r.prompt_name', '=', prompt_name ?? ''))
      .$if(label !== null, (own) => own.where('r.label', '=', label ?? ''))
      .groupBy(['r.measure', 'r.bucket']),
  );

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
      return { value: scores[metric.slice(SCORE.length)] ?? null, count: count(metric) };
  }
}

/** What each check of a monitor measures now, in their order. @param query of its workspace */
export async function measureChecks(query: Query, monitor: MonitorRow): Promise<Measured[]> {
  const rows = await readSums(query, monitor);
  return monitor.checks.map(({ metric }: MonitorCheck) => measure(metric, rows));
}
