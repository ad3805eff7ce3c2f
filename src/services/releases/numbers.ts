import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { isOfTraces, scoreOf, withoutTrace } from '../../domain/analysis/check.ts';
import { type ArmSums, NO_VALUES, type ValueSums } from '../../domain/analysis/sums.ts';
import { ARMS, type Arm } from '../../domain/releases/rollout.ts';
import { percentileOf } from './latency-buckets.ts';
import { WHOLE_STAGE } from './sum-up-releases.ts';

/** The numbers of the executions of one arm. */
export interface ArmNumbers extends ArmSums {
  fallbacks: number;
  reused: number;
  tokens: number;
  /** The numbers of the traces whose executions of the release are all of this arm. */
  traces?: ArmNumbers | undefined;
  /** Traces with executions of both arms. */
  tracesOfBoth: number;
}

export type Arms = Record<Arm, ArmNumbers>;

/** Sums of what executions measured: `error`, `latency` (by bucket), `cost`, `score:NAME` and so on. */
export interface MeasuredSums {
  measure: string;
  bucket: number;
  count: number;
  total: number;
  squares: number;
}

type SumRow = MeasuredSums & { arm: Arm };

/** Combines sums into the numbers of an arm. */
export function armOf(all: readonly MeasuredSums[]): ArmNumbers {
  const rows = all.filter(({ measure }) => !isOfTraces(measure));
  const ofTraces = all.filter(({ measure }) => isOfTraces(measure));
  const moments = new Map<string, ValueSums>();
  const latency: Record<number, number> = {};
  for (const { measure, bucket, count, total, squares } of rows) {
    const so = moments.get(measure) ?? NO_VALUES;
    moments.set(measure, { count: so.count + count, sum: so.sum + total, squares: so.squares + squares });
    if (measure === 'latency') latency[bucket] = (latency[bucket] ?? 0) + count;
  }
  const of = (measure: string) => moments.get(measure) ?? NO_VALUES;
  const scores = [...moments].filter(([measure]) => scoreOf(measure) !== undefined);
  return {
    executions: of('error').count,
    errors: of('error').sum,
    fallbacks: of('fallback').count,
    reused: of('reused').count,
    tokens: of('tokens').sum,
    tracesOfBoth: of('both').count,
    ...(ofTraces.length > 0 && {
      traces: armOf(ofTraces.map((row) => ({ ...row, measure: withoutTrace(row.measure) }))),
    }),
    cost: of('cost'),
    latency,
    scores: Object.fromEntries(scores.map(([measure, sums]) => [scoreOf(measure) ?? '', sums])),
  };
}

const armsOf = (rows: readonly SumRow[]): Arms => ({
  stable: armOf(rows.filter(({ arm }) => arm === 'stable')),
  candidate: armOf(rows.filter(({ arm }) => arm === 'candidate')),
});

const selectSums = (query: Query, ids: readonly string[]) =>
  query((db) =>
    db
      .selectFrom('release_sums')
      .select(['release_id', 'stage', 'arm', 'measure', 'bucket', 'count', 'total', 'squares'])
      .where('release_id', 'in', ids)
      .where('starts_at', '=', WHOLE_STAGE),
  );

/** The numbers of both arms by release; a release without executions has none. */
export async function readArms(query: Query, ids: readonly string[]): Promise<Map<string, Arms>> {
  if (ids.length === 0) return new Map();
  const rows = Map.groupBy(await selectSums(query, ids), ({ release_id: id }) => id);
  return new Map(ids.map((id) => [id, armsOf(rows.get(id) ?? [])]));
}

/** The numbers of one release since a step, during which its share has not changed; both arms cover the same time. */
export async function readStage(query: Query, id: string, stage: number): Promise<Arms> {
  return armsOf((await selectSums(query, [id])).filter((row) => row.stage === stage));
}

export const SERIES_UNITS = ['minute', 'hour', 'day'] as const;
export type SeriesUnit = (typeof SERIES_UNITS)[number];
/** The maximum number of points of a series. */
export const MAX_POINTS = 1_500;

/** What a release measured per minute, hour or day, by arm and stage. */
export async function readSeries(query: Query, id: string, unit: SeriesUnit) {
  const rows = await query((db) =>
    db
      .selectFrom('release_sums')
      .select(['stage', 'arm', 'measure', 'bucket'])
      .select([
        sql<Date>`date_trunc(${sql.lit(unit)}, starts_at, 'UTC')`.as('at'),
        sql<number>`sum(count)::float8`.as('count'),
        sql<number>`sum(total)`.as('total'),
        sql<number>`sum(squares)`.as('squares'),
      ])
      .where('release_id', '=', id)
      .where('starts_at', '>', WHOLE_STAGE)
      .groupBy(['stage', 'arm', 'measure', 'bucket', sql`5`])
      .orderBy('at'),
  );
  const points = Map.groupBy(rows, ({ at, stage, arm }) => `${at.toISOString()} ${stage} ${arm}`);
  return [...points.values()].slice(-MAX_POINTS).flatMap((measured) => {
    const [first] = measured;
    return first === undefined
      ? []
      : [{ at: first.at, step: first.stage, arm: first.arm, ...describeArm(armOf(measured), false) }];
  });
}

const P95 = 0.95;
const MS_DIGITS = 10;

/** The numbers of an arm as shown to callers; null if nothing was measured. */
export function describeArm(arm: ArmNumbers, isFine = true) {
  const { executions, errors, fallbacks, reused, tokens, cost, latency, scores, traces } = arm;
  const mean = ({ count, sum }: ValueSums) => (count === 0 ? null : sum / count);
  const p95 = percentileOf(latency, P95, isFine);
  return {
    executions,
    errors,
    error_rate: executions === 0 ? null : errors / executions,
    fallbacks,
    reused,
    latency_p95_ms: p95 === null ? null : Math.round(p95 * MS_DIGITS) / MS_DIGITS,
    cost_mean: mean(cost),
    cost_total: cost.sum,
    tokens,
    traces: traces?.executions ?? 0,
    traces_of_both: traces?.tracesOfBoth ?? 0,
    scores: Object.fromEntries(Object.entries(scores).map(([name, sums]) => [name, mean(sums)])),
  };
}

export const describeArms = (arms: Arms) =>
  Object.fromEntries(ARMS.map((arm) => [arm, describeArm(arms[arm])])) as Record<Arm, ReturnType<typeof describeArm>>;

export const NO_ARMS: Arms = armsOf([]);
