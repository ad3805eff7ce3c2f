import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { TraceGap } from '../../db/entities/trace.ts';
import { anyOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import type { StepStatus } from '../../domain/traces/step.ts';

/** Maximum number of models, tools, agents, tags and prompts that a trace names. */
const MAX_NAMES = 50;
/** A trace is settled after this long without new steps. */
const QUIET_SECONDS = 30;
/** The same if its root has not ended. */
const QUIET_WITHOUT_ROOT_SECONDS = 5 * 60;

/** The range of days since 1970 that has all steps of some traces. */
export interface Days {
  first: number;
  last: number;
}

const fromUs = (column: string) => sql`to_timestamp(${sql.ref(column)} / 1e6)`;
/** The distinct names in a column, sorted. */
const names = (column: string) =>
  sql<
    string[]
  >`coalesce((array_agg(distinct ${sql.ref(column)}) filter (where ${sql.ref(column)} is not null))[1:${sql.lit(MAX_NAMES)}], '{}')`;
/** The value of the top step or, if it has none, of the first step that has one. */
const firstOf = (column: string) =>
  sql`(array_agg(${sql.ref(column)} order by ${sql.ref('s.parent_id')} is not null, ${sql.ref('s.started_us')}, ${sql.ref('s.span_id')}) filter (where ${sql.ref(column)} is not null))[1]`;
const count = (condition: Expression<unknown>) => sql`(count(*) filter (where ${condition}))::int`;
const total = (column: string) => sql`coalesce(sum(${sql.ref(column)}), 0)::bigint`;

/** The columns of a trace that are sums over its steps. */
const SUMS: Partial<Record<keyof Tables['traces'], Expression<unknown>>> = {
  started_at: sql`min(${fromUs('s.started_us')})`,
  steps: sql`count(*)::int`,
  calls: sql`count(${sql.ref('e.id')})::int`,
  errors: count(sql`${sql.ref('s.status')} = 'error'`),
  tokens_input: total('e.tokens_input'),
  tokens_output: total('e.tokens_output'),
  tokens_cached_input: total('e.tokens_cached_input'),
  tokens_reasoning: total('e.tokens_reasoning'),
  cost_amount: sql`trim_scale(sum(${sql.ref('e.cost_amount')}))`,
  unpriced_calls: count(sql`${sql.ref('e.id')} is not null and ${sql.ref('e.cost_amount')} is null`),
  models: names('e.model'),
  tools: names('s.tool'),
  agents: names('s.agent'),
  prompts: sql`coalesce(jsonb_path_query_array(jsonb_agg(distinct
    jsonb_build_object('name', ${sql.ref('s.prompt_name')}, 'version', ${sql.ref('s.prompt_version')}))
    filter (where ${sql.ref('s.prompt_name')} is not null), ${sql.lit(`$[0 to ${MAX_NAMES - 1}]`)}), '[]')`,
  conversation_id: firstOf('s.conversation_id'),
  user_id: firstOf('s.user_id'),
  service: firstOf('s.service'),
  environment: firstOf('s.environment'),
  metadata: sql`coalesce(${firstOf('s.metadata')}, '{}')`,
  bytes: total('s.bytes'),
};
const SUMMED = Object.keys(SUMS) as (keyof typeof SUMS)[];

/** Traces per statement. PostgreSQL joins their sums row by row, so that the time grows with the square of their number. */
const AT_ONCE = 100;

interface Sums extends Days {
  uuids: readonly string[];
  overLimit: readonly string[];
}

// Not prepared: without statistics, a plan for any values takes seconds. PostgreSQL takes the steps of a new day, of which it has no statistics, for a few. It would calculate the sums again for each trace, and read the
// whole day for each parent: so sums are materialized, and a parent is a subquery for one value, which uses the key.
const sumUp = (db: Builder, { uuids, first, last, overLimit }: Sums) =>
  db
    .with(
      (cte) => cte('tops').materialized(),
      (cte) =>
        cte
          .selectFrom('trace_steps as s')
          .where('s.trace_id', '=', anyOf(uuids))
          .where('s.day', '>=', first)
          .where('s.day', '<=', last)
          .where((eb) =>
            eb(
              eb
                .selectFrom('trace_steps as p')
                .select('p.span_id')
                .whereRef('p.trace_id', '=', 's.trace_id')
                .whereRef('p.span_id', '=', 's.parent_id')
                .where('p.day', '>=', first)
                .where('p.day', '<=', last)
                .limit(1),
              'is',
              null,
            ),
          )
          .distinctOn('s.trace_id')
          .select(['s.trace_id', 's.name', 's.status', 's.parent_id', 's.ended_us', 's.input_head', 's.output_head'])
          .orderBy('s.trace_id')
          .orderBy(sql`s.parent_id is not null`)
          .orderBy('s.started_us')
          .orderBy('s.span_id'),
    )
    .with(
      (cte) => cte('sums').materialized(),
      (cte) =>
        cte
          .selectFrom('trace_steps as s')
          .leftJoin('executions as e', 'e.id', 's.execution_id')
          .where('s.trace_id', '=', anyOf(uuids))
          .where('s.day', '>=', first)
          .where('s.day', '<=', last)
          .groupBy('s.trace_id')
          .select('s.trace_id')
          .select(sql<Date>`max(${fromUs('s.ended_us')})`.as('last_end'))
          .select(sql<boolean>`bool_or(${sql.ref('s.complete')})`.as('complete'))
          .select(SUMMED.map((name) => sql`${SUMS[name]}`.as(name))),
    )
    .with('tagged', (cte) =>
      cte
        .selectFrom('trace_steps as s')
        .where('s.trace_id', '=', anyOf(uuids))
        .where('s.day', '>=', first)
        .where('s.day', '<=', last)
        .where('s.tags', 'is not', null)
        .select(['s.trace_id', sql<string>`unnest(${sql.ref('s.tags')})`.as('tag')]),
    )
    .with(
      (cte) => cte('tags').materialized(),
      (cte) =>
        cte
          .selectFrom('tagged as s')
          .groupBy('s.trace_id')
          .select(['s.trace_id', names('s.tag').as('tags')]),
    )
    .updateTable('traces as t')
    .from('sums as n')
    .leftJoin('tops as h', 'h.trace_id', 'n.trace_id')
    .leftJoin('tags as g', 'g.trace_id', 'n.trace_id')
    .whereRef('t.id', '=', 'n.trace_id')
    .set((eb) => ({
      ...Object.fromEntries(SUMMED.map((name) => [name, sql.ref(`n.${name}`)])),
      name: eb.ref('h.name'),
      status: sql<StepStatus>`coalesce(${sql.ref('h.status')}, 'running')`,
      ended_at: sql<Date | null>`case when ${sql.ref('h.ended_us')} is not null then ${sql.ref('n.last_end')} end`,
      tags: sql<string[]>`coalesce(${sql.ref('g.tags')}, '{}')`,
      input: eb.ref('h.input_head'),
      output: eb.ref('h.output_head'),
      incomplete: sql<TraceGap[]>`array_remove(array[
        case when ${sql.ref('h.trace_id')} is null or ${sql.ref('h.parent_id')} is not null then 'root_missing' end,
        case when 'steps_over_limit' = any(${sql.ref('t.incomplete')}) or ${sql.ref('t.id')} = ${anyOf(overLimit)} then 'steps_over_limit' end
      ], null)`,
      settle_at: sql<Date>`now() + make_interval(secs => case when ${sql.ref('n.complete')} then 0
        when ${sql.ref('h.parent_id')} is null and ${sql.ref('h.ended_us')} is not null then ${sql.lit(QUIET_SECONDS)}
        else ${sql.lit(QUIET_WITHOUT_ROOT_SECONDS)} end)`,
    }));

/**
 * Recalculates traces from their steps: the result does not depend on their order of arrival. Runs in the caller's transaction, which locks the rows.
 * @param days of all of their steps
 * @param overLimit UUIDs of traces whose further steps were dropped; they stay marked
 */
export async function sumUpTraces(
  query: Query,
  uuids: readonly string[],
  days: Days,
  overLimit: readonly string[] = [],
): Promise<void> {
  for (let from = 0; from < uuids.length; from += AT_ONCE)
    await query((db) => sumUp(db, { ...days, uuids: uuids.slice(from, from + AT_ONCE), overLimit }));
}
