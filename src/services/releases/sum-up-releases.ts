import { sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { squareOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { bucketSql } from './latency-buckets.ts';

const BATCH_SIZE = 5_000;

/** Where the sums of a whole stage are, beside those of its minutes. */
export const WHOLE_STAGE = new Date(0);

const KEY = ['workspace_id', 'release_id', 'stage', 'arm', 'starts_at', 'measure', 'bucket'] as const;
const SUMS = ['count', 'total', 'squares'] as const;
type Key = (typeof KEY)[number];

const raised = (column: (typeof SUMS)[number]) =>
  sql<never>`${sql.ref(`release_sums.${column}`)} + ${sql.ref(`excluded.${column}`)}`;

/** What an entry counts as. The buckets of a minute are coarser: there are many minutes. */
const MEASURED = sql<{ starts_at: Date; measure: string; bucket: number; value: number }>`(
  select unit.starts_at, m.measure, m.bucket, m.value
  from (values (to_timestamp(0), true), (date_trunc('minute', taken.created_at), false)) as unit(starts_at, is_whole)
  cross join lateral (values
    ('error', 0, taken.failed::int::float8),
    ('fallback', 0, case when taken.fell_back then 1 end),
    ('reused', 0, case when taken.reused then 1 end),
    ('cost', 0, taken.cost),
    ('tokens', 0, taken.tokens::float8),
    ('latency', ${bucketSql(sql.ref('taken.latency_ms'), sql.ref('unit.is_whole'))}, taken.latency_ms)
  ) as m(measure, bucket, value)
  where m.value is not null)`;

/**
 * Adds entries to the sums. Each is taken by one process, and deleted in the same statement. Rows of sums are locked in one order, so
 * that two at once can't wait for each other.
 */
const sumUp = (db: Builder, releaseId: string | undefined) =>
  db
    .with('taken', (cte) =>
      cte
        .deleteFrom('release_entries')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('release_entries')
            .select('id')
            .$if(releaseId !== undefined, (entries) => entries.where('release_id', '=', releaseId ?? ''))
            .orderBy('id')
            .limit(BATCH_SIZE)
            .forUpdate()
            .skipLocked(),
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
            .innerJoinLateral(MEASURED.as<'m'>(sql`m`), (join) => join.onTrue())
            .select(['workspace_id', 'release_id', 'stage', 'arm', 'm.starts_at', 'm.measure', 'm.bucket'])
            .select([
              sql<number>`count(*)`.as('count'),
              sql<number>`sum(m.value)`.as('total'),
              sql<number>`sum(${squareOf(sql.ref('m.value'))})`.as('squares'),
            ])
            .groupBy(KEY.map((_, index) => sql.lit(index + 1)))
            .orderBy(sql`1, 2, 3, 4, 5, 6, 7`),
        )
        .onConflict((conflict) =>
          conflict
            .columns(KEY.filter((column): column is Exclude<Key, 'workspace_id'> => column !== 'workspace_id'))
            .doUpdateSet(Object.fromEntries(SUMS.map((column) => [column, raised(column)]))),
        ),
    )
    .selectFrom('taken')
    .select(sql<number>`count(*)::int`.as('count'));

/** The same of scores. One that was replaced or deleted is taken away. */
const sumUpScores = (db: Builder, releaseId: string | undefined) =>
  db
    .with('taken', (cte) =>
      cte
        .deleteFrom('release_score_entries')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('release_score_entries')
            .select('id')
            .$if(releaseId !== undefined, (entries) => entries.where('release_id', '=', releaseId ?? ''))
            .orderBy('id')
            .limit(BATCH_SIZE)
            .forUpdate()
            .skipLocked(),
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
            .innerJoinLateral(
              sql<{ starts_at: Date }>`(values (to_timestamp(0)), (date_trunc('minute', taken.created_at)))`.as<'unit'>(
                sql`unit(starts_at)`,
              ),
              (join) => join.onTrue(),
            )
            .select(['workspace_id', 'release_id', 'stage', 'arm', 'unit.starts_at'])
            .select([
              sql<string>`'score:' || taken.name`.as('measure'),
              sql<number>`0`.as('bucket'),
              sql<number>`sum(taken.count)`.as('count'),
              sql<number>`sum(taken.total)`.as('total'),
              sql<number>`sum(taken.squares)`.as('squares'),
            ])
            .groupBy(KEY.map((_, index) => sql.lit(index + 1)))
            .orderBy(sql`1, 2, 3, 4, 5, 6, 7`),
        )
        .onConflict((conflict) =>
          conflict
            .columns(KEY.filter((column): column is Exclude<Key, 'workspace_id'> => column !== 'workspace_id'))
            .doUpdateSet(Object.fromEntries(SUMS.map((column) => [column, raised(column)]))),
        ),
    )
    .selectFrom('taken')
    .select(sql<number>`count(*)::int`.as('count'));

/**
 * Adds what has ended, and its scores, to the numbers of releases. Safe to run in several processes at once.
 * @param query of the whole system
 * @param releaseId only this one's. Default: of all
 */
export async function sumUpReleases(query: Query, releaseId?: string): Promise<void> {
  for (const add of [sumUp, sumUpScores])
    for (let count = BATCH_SIZE; count === BATCH_SIZE; )
      [{ count } = { count: 0 }] = await query((db) => add(db, releaseId));
}
