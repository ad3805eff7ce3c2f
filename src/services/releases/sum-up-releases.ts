import { type RawBuilder, sql } from 'kysely';
import { claim } from '../../db/claim.ts';
import type { Query } from '../../db/database.ts';
import { squareOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { ENTRIES_AT_ONCE, raised, takeAll } from '../../db/sums.ts';
import { SCORE, TRACE } from '../../domain/analysis/check.ts';
import { bucketSql } from './latency-buckets.ts';

/** The time of the sums of a whole stage, which are stored beside those of its minutes. */
export const WHOLE_STAGE = new Date(0);

const KEY = ['workspace_id', 'release_id', 'stage', 'arm', 'starts_at', 'measure', 'bucket'] as const;
const SUMS = ['count', 'total', 'squares'] as const;
type Key = (typeof KEY)[number];

/** Which sums the entries of a table contribute to: from `taken`, as a lateral table `m`. */
type Measured = RawBuilder<{
  starts_at: Date;
  measure: string;
  bucket: number;
  count: number;
  total: number;
  squares: number;
}>;

/** The contribution of an ended execution, or of a trace. The buckets of a minute are coarser, because there are many minutes. */
const OF_EXECUTION: Measured = sql`(
  select unit.starts_at, case when taken.of_trace is null then '' else ${sql.lit(TRACE)} end || m.measure as measure, m.bucket, taken.sign as count, taken.sign * m.value as total, taken.sign * ${squareOf(sql.ref('m.value'))} as squares
  from (values (to_timestamp(0), true), (date_trunc('minute', taken.created_at), false)) as unit(starts_at, is_whole)
  cross join lateral (values
    ('both', 0, case when taken.of_trace = 'both' then 1 end),
    ('error', 0, case when taken.of_trace is distinct from 'both' then taken.failed::int::float8 end),
    ('fallback', 0, case when taken.fell_back then 1 end),
    ('reused', 0, case when taken.reused then 1 end),
    ('cost', 0, taken.cost),
    ('tokens', 0, taken.tokens::float8),
    ('latency', ${bucketSql(sql.ref('taken.latency_ms'), sql.ref('unit.is_whole'))}, taken.latency_ms)
  ) as m(measure, bucket, value)
  where m.value is not null)`;

/** The contribution of a score. A replaced or deleted score is subtracted. */
const OF_SCORE: Measured = sql`(
  select unit.starts_at, case when starts_with(taken.name, ${sql.lit(TRACE)}) then ${sql.lit(TRACE + SCORE)} || substr(taken.name, ${sql.lit(TRACE.length + 1)}) else ${sql.lit(SCORE)} || taken.name end as measure, 0 as bucket, taken.count, taken.total, taken.squares
  from (values (to_timestamp(0)), (date_trunc('minute', taken.created_at))) as unit(starts_at))`;

const ENTRIES = [
  ['release_entries', OF_EXECUTION],
  ['release_score_entries', OF_SCORE],
] as const;

/** Adds entries to the sums. Each entry is taken by one process and deleted in the same statement. */
const sumUp = (db: Builder, table: (typeof ENTRIES)[number][0], measured: Measured, releaseId: string | undefined) =>
  db
    .with('taken', (cte) =>
      cte
        .deleteFrom(table)
        .where('id', 'in', (eb) =>
          eb
            .selectFrom(table)
            .select('id')
            .$if(releaseId !== undefined, (entries) => entries.where('release_id', '=', releaseId ?? ''))
            .orderBy('id')
            .$call(claim(ENTRIES_AT_ONCE)),
        )
        .returningAll(),
    )
    .with('added', (cte) =>
      cte
        .insertInto('release_sums')
        .columns([...KEY, ...SUMS])
        .expression(
          cte
            .selectFrom('taken')
            .innerJoinLateral(measured.as<'m'>(sql`m`), (join) => join.onTrue())
            .select(['workspace_id', 'release_id', 'stage', 'arm', 'm.starts_at', 'm.measure', 'm.bucket'])
            .select(SUMS.map((column) => sql<number>`sum(${sql.ref(`m.${column}`)})`.as(column)))
            .groupBy(KEY.map((_, index) => sql.lit(index + 1)))
            .orderBy(sql`1, 2, 3, 4, 5, 6, 7`),
        )
        .onConflict((conflict) =>
          conflict
            .columns(KEY.filter((column): column is Exclude<Key, 'workspace_id'> => column !== 'workspace_id'))
            .doUpdateSet(raised('release_sums', SUMS)),
        ),
    )
    .selectFrom('taken')
    .select(sql<number>`count(*)::int`.as('count'));

/**
 * Adds ended executions and their scores to the numbers of releases. Safe to run in several processes at once.
 * @param query of the whole system
 * @param releaseId only this release. Default: all
 */
export async function sumUpReleases(query: Query, releaseId?: string): Promise<void> {
  for (const [table, measured] of ENTRIES) await takeAll(() => query((db) => sumUp(db, table, measured, releaseId)));
}
