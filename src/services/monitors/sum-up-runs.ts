import { type QueryCreator, type SqlBool, sql } from 'kysely';
import type { Query, SystemDatabase } from '../../db/database.ts';
import type { CountedTrace } from '../../db/entities/trace.ts';
import { milliseconds, squareOf } from '../../db/sql.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import { raised } from '../../db/sums.ts';
import type { Tables } from '../../db/tables.ts';
import { SCORE, TRACE } from '../../domain/analysis/check.ts';
import { executionStates } from '../../domain/execution-states.ts';
import { MAX_WINDOW_MS } from '../../domain/monitors/monitor.ts';
import { bucketSql } from '../releases/latency-buckets.ts';

const MINUTE_MS = 60_000;
/** How far back minutes are summed up again, to include late data from transactions in progress or from applications that report runs. */
const AGAIN_MS = 5 * MINUTE_MS;
/** The time span that one transaction sums up. */
const STEP_MS = 30 * MINUTE_MS;
const STATEMENT_TIMEOUT_MS = 60_000;
/** The minimum remaining time of a claim to a workspace when a step starts. */
const CLAIM_MS = 30_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Latencies are summed up by hour because they have a row for each bucket; a day of minutes would have too many. By measure. */
export const LATENCY_HOURS = { latency: 'latency_hour', [`${TRACE}latency`]: `${TRACE}latency_hour` };

export const floorHour = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS;
export const ceilHour = (ms: number) => Math.ceil(ms / HOUR_MS) * HOUR_MS;

/** The time up to which hours are summed up, given the time for minutes: no minute of an earlier hour can still change. */
export const hoursUntil = (minutesUntil: Date) => floorHour(minutesUntil.getTime() - AGAIN_MS);

const KEY = ['workspace_id', 'measure', 'starts_at', 'prompt_name', 'label', 'bucket'] as const;
const SUMS = ['count', 'total', 'squares'] as const;

/** A model or its provider refused to respond to the input. */
const IS_REFUSED = sql<SqlBool>`(e.finish_reason in ('content_filter', 'refusal') or e.error->>'code' = 'content_filtered')`;
const IS_OWN = sql<SqlBool>`e.reused_from is null`;
const LATENCY_MS = sql<number>`extract(epoch from e.finished_at - e.created_at)::float8 * 1000`;

/** What a run counts as. Latencies and costs are counted as in releases. */
const MEASURED = sql<{ measure: string; bucket: number; value: number }>`(
  select m.measure, m.bucket, m.value
  from (values
    ('error', 0, (${inStates(executionStates, ['failed'], 'e')})::int::float8),
    ('refusal', 0, case when ${IS_REFUSED} then 1 end),
    ('cost', 0, case when ${IS_OWN} then e.cost_amount::float8 end),
    ('latency', ${bucketSql(LATENCY_MS, sql`true`)},
      case when ${inStates(executionStates, ['completed'], 'e')} and ${IS_OWN} then ${LATENCY_MS} end)
  ) as m(measure, bucket, value)
  where m.value is not null)`;

const sumsOf = (column: string) =>
  [
    sql<number>`count(*)`.as('count'),
    sql<number>`sum(${sql.ref(column)})`.as('total'),
    sql<number>`sum(${squareOf(sql.ref(column))})`.as('squares'),
  ] as const;

interface Span {
  from: Date;
  to: Date;
}

const runsOf = (db: QueryCreator<Tables>, workspaceId: string, { from, to }: Span) =>
  db
    .selectFrom('executions as e')
    .innerJoinLateral(MEASURED.as<'m'>(sql`m`), (join) => join.onTrue())
    .select(['e.workspace_id', 'm.measure'])
    .select([
      sql<Date>`date_trunc('minute', e.finished_at, 'UTC')`.as('starts_at'),
      sql<string>`coalesce(e.prompt_name, '')`.as('prompt_name'),
      sql<string>`coalesce(e.label, '')`.as('label'),
      'm.bucket',
      ...sumsOf('m.value'),
    ])
    .where('e.workspace_id', '=', workspaceId)
    .where('e.finished_at', '>=', from)
    .where('e.finished_at', '<', to)
    .where(inStates(executionStates, ['completed', 'failed'], 'e'))
    .groupBy(sql`1, 2, 3, 4, 5, 6`);

/** Numeric scores of runs. Scores of evaluations say nothing about production runs. */
const scoresOf = (db: QueryCreator<Tables>, workspaceId: string, { from, to }: Span) =>
  db
    .selectFrom('scores as s')
    .select(['s.workspace_id', sql<string>`${sql.lit(SCORE)} || s.name`.as('measure')])
    .select([
      sql<Date>`date_trunc('minute', s.created_at, 'UTC')`.as('starts_at'),
      sql<string>`coalesce(s.prompt_name, '')`.as('prompt_name'),
      sql<string>`coalesce(s.label, '')`.as('label'),
      sql<number>`0`.as('bucket'),
      ...sumsOf('s.number'),
    ])
    .where('s.workspace_id', '=', workspaceId)
    .where('s.created_at', '>=', from)
    .where('s.created_at', '<', to)
    .where('s.number', 'is not', null)
    .where('s.execution_id', 'is not', null)
    .groupBy(sql`1, 2, 3, 4, 5`);

/** What a trace counts as. */
const MEASURED_OF_TRACE = sql<{ measure: string; bucket: number; value: number }>`(
  select ${sql.lit(TRACE)} || m.measure as measure, m.bucket, m.value
  from (select extract(epoch from t.ended_at - t.started_at)::float8 * 1000 as ms) as took
  cross join lateral (values
    ('error', 0, (t.status = 'error')::int::float8),
    ('cost', 0, t.cost_amount::float8),
    ('steps', 0, t.steps::float8),
    ('latency', ${bucketSql(sql`took.ms`, sql`true`)}, took.ms)
  ) as m(measure, bucket, value)
  where m.value is not null)`;
/** A trace counts once in all, and for each of its prompts. */
const PROMPTS_OF_TRACE = sql<{
  name: string;
}>`(select '' as name union select each->>'name' from jsonb_array_elements(${sql.ref('t.prompts')}) as each)`;

/** Traces by the minute in which they first settled. */
const tracesOf = (db: QueryCreator<Tables>, workspaceId: string, { from, to }: Span) =>
  db
    .selectFrom('traces as t')
    .innerJoinLateral(PROMPTS_OF_TRACE.as<'p'>(sql`p`), (join) => join.onTrue())
    .innerJoinLateral(MEASURED_OF_TRACE.as<'m'>(sql`m`), (join) => join.onTrue())
    .select(['t.workspace_id', 'm.measure'])
    .select([sql<Date>`date_trunc('minute', t.completed_at, 'UTC')`.as('starts_at'), 'p.name as prompt_name'])
    .select([sql<string>`''`.as('label'), 'm.bucket', ...sumsOf('m.value')])
    .where('t.workspace_id', '=', workspaceId)
    .where('t.completed_at', '>=', from)
    .where('t.completed_at', '<', to)
    .groupBy(sql`1, 2, 3, 4, 5, 6`);

/** The columns of a trace that {@link MEASURED_OF_TRACE} and {@link PROMPTS_OF_TRACE} read. */
type Numbers = Pick<CountedTrace, 'status' | 'cost_amount' | 'steps' | 'prompts'> & {
  started_at: Date;
  ended_at: Date | null;
};

/**
 * Counts a trace that has settled again with its new numbers, in the minute in which it first settled. A minute that is still to be summed up again
 * has them anyway. Runs in the transaction that settles the trace.
 * @param before the numbers it was counted with
 */
export async function correctMinutes(query: Query, trace: string, before: CountedTrace): Promise<void> {
  const [row] = await query((db) =>
    db
      .selectFrom('traces as t')
      .innerJoin('monitored_workspaces as w', (join) => join.onTrue())
      .select(['t.completed_at', 'w.summed_until'])
      .where('t.id', '=', trace),
  );
  if (!row?.completed_at || row.summed_until === null) return;
  const [minute, until] = [row.completed_at, row.summed_until];
  if (minute.getTime() >= until.getTime() - AGAIN_MS - MINUTE_MS) return;
  const hour = floorHour(minute.getTime()) < hoursUntil(until) ? 'hour' : null;
  const columns = (['status', 'started_at', 'ended_at', 'cost_amount', 'steps', 'prompts'] as const).map((name) =>
    sql.ref(`n.${name}`),
  );
  // `prompts` is a table, too, which raw SQL may not name.
  const { prompts: named, ...numbers } = before;
  const nowAndBefore = sql<Numbers & { sign: number }>`(select 1 as sign, ${sql.join(columns)} union all
    select -1, b.* from jsonb_to_record(${JSON.stringify({ ...numbers, named })}::jsonb) as b(status text, started_at timestamptz,
      ended_at timestamptz, cost_amount numeric, steps bigint, named jsonb))`;
  await query((db) =>
    db
      .insertInto('run_minutes')
      .columns(['measure', 'starts_at', 'prompt_name', 'label', 'bucket', ...SUMS])
      .expression((eb) =>
        eb
          .selectFrom('traces as n')
          .innerJoinLateral(nowAndBefore.as<'t'>(sql`t`), (join) => join.onTrue())
          .innerJoinLateral(PROMPTS_OF_TRACE.as<'p'>(sql`p`), (join) => join.onTrue())
          .innerJoinLateral(MEASURED_OF_TRACE.as<'m'>(sql`m`), (join) => join.onTrue())
          .innerJoinLateral(
            sql<{
              measure: string;
              at: Date;
            }>`(select m.measure, date_trunc('minute', ${minute}::timestamptz, 'UTC') as at
              union all select m.measure || '_hour', date_trunc(${hour}::text, ${minute}::timestamptz, 'UTC')
                where m.measure = any(${Object.keys(LATENCY_HOURS)}::text[]) and ${hour}::text is not null)`.as<'u'>(
              sql`u`,
            ),
            (join) => join.onTrue(),
          )
          .select(['u.measure', 'u.at as starts_at', 'p.name as prompt_name', sql<string>`''`.as('label'), 'm.bucket'])
          .select([
            sql<number>`sum(t.sign)`.as('count'),
            sql<number>`sum(t.sign * m.value)`.as('total'),
            sql<number>`sum(t.sign * ${squareOf(sql.ref('m.value'))})`.as('squares'),
          ])
          .where('n.id', '=', trace)
          .groupBy(sql`1, 2, 3, 4, 5`)
          .orderBy(sql`1, 2, 3, 4, 5`),
      )
      .onConflict((conflict) => conflict.columns(KEY).doUpdateSet(raised('run_minutes', SUMS))),
  );
}

/** Numeric scores of whole traces. */
const scoresOfTraces = (db: QueryCreator<Tables>, workspaceId: string, { from, to }: Span) =>
  db
    .selectFrom('scores as s')
    .innerJoin('traces as t', (join) =>
      join.onRef('t.workspace_id', '=', 's.workspace_id').onRef('t.id', '=', 's.trace_id'),
    )
    .innerJoinLateral(PROMPTS_OF_TRACE.as<'p'>(sql`p`), (join) => join.onTrue())
    .select(['s.workspace_id', sql<string>`${sql.lit(TRACE + SCORE)} || s.name`.as('measure')])
    .select([sql<Date>`date_trunc('minute', s.created_at, 'UTC')`.as('starts_at'), 'p.name as prompt_name'])
    .select([sql<string>`''`.as('label'), sql<number>`0`.as('bucket'), ...sumsOf('s.number')])
    .where('s.workspace_id', '=', workspaceId)
    .where('s.created_at', '>=', from)
    .where('s.created_at', '<', to)
    .where('s.number', 'is not', null)
    .where('s.span_id', 'is', null)
    .groupBy(sql`1, 2, 3, 4, 5`);

/** Safe to repeat, like `sumUp`. */
const sumUpHours = (db: Builder, workspaceId: string, { from, to }: Span) =>
  db
    .insertInto('run_minutes')
    .columns([...KEY, ...SUMS])
    .expression((eb) =>
      eb
        .selectFrom('run_minutes as r')
        .select(['r.workspace_id', sql<string>`r.measure || '_hour'`.as('measure')])
        .select([
          sql<Date>`date_trunc('hour', r.starts_at, 'UTC')`.as('starts_at'),
          'r.prompt_name',
          'r.label',
          'r.bucket',
          sql<number>`sum(r.count)`.as('count'),
          sql<number>`sum(r.total)`.as('total'),
          sql<number>`sum(r.squares)`.as('squares'),
        ])
        .where('r.workspace_id', '=', workspaceId)
        .where('r.measure', 'in', Object.keys(LATENCY_HOURS))
        .where('r.starts_at', '>=', from)
        .where('r.starts_at', '<', to)
        .groupBy(sql`1, 2, 3, 4, 5, 6`)
        .orderBy(sql`1, 2, 3, 4, 5, 6`),
    )
    .onConflict((conflict) =>
      conflict
        .columns(KEY)
        .doUpdateSet((eb) => Object.fromEntries(SUMS.map((column) => [column, eb.ref(`excluded.${column}`)]))),
    );

/**
 * Minutes are summed up as a whole, so that repeating it has no effect. Rows are locked in a fixed order. Locks the row of the
 * workspace first and renews the claim to it, so that no other process takes the workspace between two steps.
 */
const sumUp = (db: Builder, workspaceId: string, span: Span) =>
  db
    .with('summed', (cte) =>
      cte
        .insertInto('run_minutes')
        .columns([...KEY, ...SUMS])
        .expression(
          runsOf(cte, workspaceId, span)
            .unionAll(scoresOf(cte, workspaceId, span))
            .unionAll(tracesOf(cte, workspaceId, span))
            .unionAll(scoresOfTraces(cte, workspaceId, span))
            .orderBy(sql`1, 2, 3, 4, 5, 6`),
        )
        .onConflict((conflict) =>
          conflict
            .columns(KEY)
            .doUpdateSet((eb) => Object.fromEntries(SUMS.map((column) => [column, eb.ref(`excluded.${column}`)]))),
        ),
    )
    .updateTable('monitored_workspaces')
    .set({
      summed_until: span.to,
      check_at: sql<Date>`greatest(check_at, clock_timestamp() + ${milliseconds(CLAIM_MS)})`,
    })
    .where('workspace_id', '=', workspaceId)
    .returning('check_at');

/**
 * Sums up by minute the runs that have ended and the traces that have settled in a workspace, and the scores that were submitted, since the last time; the first
 * time, as far as monitors look back. Each run is read a few times. Safe to run in several processes at once.
 * @param until the end of the time to sum up: the database's time
 * @param isOver stops after the current step; at least one step is made, the rest is left for the next time
 * @returns `isDone`: whether everything is summed up; `claimedUntil`: until when no other process takes the workspace
 */
export async function sumUpRuns(
  { transaction }: SystemDatabase,
  { workspaceId, summedUntil, until }: { workspaceId: string; summedUntil: Date | null; until: Date },
  isOver: () => boolean = () => false,
): Promise<{ isDone: boolean; claimedUntil: Date | undefined }> {
  const oldest = until.getTime() - MAX_WINDOW_MS - MINUTE_MS;
  const start = Math.max(oldest, (summedUntil?.getTime() ?? 0) - AGAIN_MS);
  const end = until.getTime() + 1;
  const first = Math.floor(start / MINUTE_MS) * MINUTE_MS;
  let claimedUntil: Date | undefined;
  for (let from = first; from < end; from += STEP_MS) {
    if (from > first && isOver()) return { isDone: false, claimedUntil };
    const span = { from: new Date(from), to: new Date(Math.min(from + STEP_MS, end)) };
    const hours = { from: new Date(hoursUntil(span.from)), to: new Date(hoursUntil(span.to)) };
    const work = async (query: Query) => {
      const [workspace] = await query((db) => sumUp(db, workspaceId, span));
      if (hours.from < hours.to) await query((db) => sumUpHours(db, workspaceId, hours));
      return workspace?.check_at;
    };
    claimedUntil = await transaction(work, { statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  }
  return { isDone: true, claimedUntil };
}
