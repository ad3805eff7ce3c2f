import { type Expression, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { TraceGap } from '../../db/entities/trace.ts';
import { anyOf } from '../../db/sql.ts';
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

const fromUs = (column: string) => sql<Date>`to_timestamp(${sql.ref(column)} / 1e6)`;
/** The distinct names in a column, sorted. */
const names = (column: string) =>
  sql<
    string[]
  >`coalesce((array_agg(distinct ${sql.ref(column)}) filter (where ${sql.ref(column)} is not null))[1:${sql.lit(MAX_NAMES)}], '{}')`;
/** The value of the top step or, if it has none, of the first step that has one. */
const firstOf = <Value>(column: string) =>
  sql<Value | null>`(array_agg(${sql.ref(column)} order by ${sql.ref('s.parent_id')} is not null, ${sql.ref('s.started_us')}, ${sql.ref('s.span_id')}) filter (where ${sql.ref(column)} is not null))[1]`;
const count = (condition: Expression<unknown>) => sql<number>`(count(*) filter (where ${condition}))::int`;
const total = (column: string) => sql<number>`coalesce(sum(${sql.ref(column)}), 0)::bigint`;

/** Traces per statement. PostgreSQL joins their sums row by row, so that the time grows with the square of their number. */
const AT_ONCE = 100;

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
    await sumUp(query, uuids.slice(from, from + AT_ONCE), days, overLimit);
}

async function sumUp(
  query: Query,
  uuids: readonly string[],
  { first, last }: Days,
  overLimit: readonly string[],
): Promise<void> {
  // PostgreSQL takes the steps of a new day, of which it has no statistics, for a few. It would calculate the sums again for each trace, and read the
  // whole day for each parent: so sums are materialized, and a parent is a subquery for one value, which uses the key.
  await query((db) =>
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
            .select([
              's.trace_id',
              sql<number>`count(*)::int`.as('steps'),
              sql<number>`count(${sql.ref('e.id')})::int`.as('calls'),
              count(sql`${sql.ref('s.status')} = 'error'`).as('errors'),
              sql<Date>`min(${fromUs('s.started_us')})`.as('started_at'),
              sql<Date>`max(${fromUs('s.ended_us')})`.as('ended_at'),
              sql<boolean>`bool_or(${sql.ref('s.complete')})`.as('complete'),
              total('e.tokens_input').as('tokens_input'),
              total('e.tokens_output').as('tokens_output'),
              total('e.tokens_cached_input').as('tokens_cached_input'),
              total('e.tokens_reasoning').as('tokens_reasoning'),
              sql<string | null>`trim_scale(sum(${sql.ref('e.cost_amount')}))`.as('cost_amount'),
              count(sql`${sql.ref('e.id')} is not null and ${sql.ref('e.cost_amount')} is null`).as('unpriced_calls'),
              names('e.model').as('models'),
              names('s.tool').as('tools'),
              names('s.agent').as('agents'),
              sql<{ name: string; version: number | null }[]>`coalesce(jsonb_path_query_array(jsonb_agg(distinct
              jsonb_build_object('name', ${sql.ref('s.prompt_name')}, 'version', ${sql.ref('s.prompt_version')}))
              filter (where ${sql.ref('s.prompt_name')} is not null), ${sql.lit(`$[0 to ${MAX_NAMES - 1}]`)}), '[]')`.as(
                'prompts',
              ),
              firstOf<string>('s.conversation_id').as('conversation_id'),
              firstOf<string>('s.user_id').as('user_id'),
              firstOf<string>('s.service').as('service'),
              firstOf<string>('s.environment').as('environment'),
              firstOf<Record<string, string>>('s.metadata').as('metadata'),
              total('s.bytes').as('bytes'),
            ]),
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
        name: eb.ref('h.name'),
        status: sql<StepStatus>`coalesce(${sql.ref('h.status')}, 'running')`,
        started_at: eb.ref('n.started_at'),
        ended_at: sql<Date | null>`case when ${sql.ref('h.ended_us')} is not null then ${sql.ref('n.ended_at')} end`,
        steps: eb.ref('n.steps'),
        calls: eb.ref('n.calls'),
        errors: eb.ref('n.errors'),
        tokens_input: eb.ref('n.tokens_input'),
        tokens_output: eb.ref('n.tokens_output'),
        tokens_cached_input: eb.ref('n.tokens_cached_input'),
        tokens_reasoning: eb.ref('n.tokens_reasoning'),
        cost_amount: eb.ref('n.cost_amount'),
        unpriced_calls: eb.ref('n.unpriced_calls'),
        models: eb.ref('n.models'),
        tools: eb.ref('n.tools'),
        agents: eb.ref('n.agents'),
        prompts: eb.ref('n.prompts'),
        conversation_id: eb.ref('n.conversation_id'),
        user_id: eb.ref('n.user_id'),
        service: eb.ref('n.service'),
        environment: eb.ref('n.environment'),
        tags: sql<string[]>`coalesce(${sql.ref('g.tags')}, '{}')`,
        metadata: sql<Record<string, string>>`coalesce(${sql.ref('n.metadata')}, '{}')`,
        input: eb.ref('h.input_head'),
        output: eb.ref('h.output_head'),
        incomplete: sql<TraceGap[]>`array_remove(array[
          case when ${sql.ref('h.trace_id')} is null or ${sql.ref('h.parent_id')} is not null then 'root_missing' end,
          case when 'steps_over_limit' = any(${sql.ref('t.incomplete')}) or ${sql.ref('t.id')} = ${anyOf(overLimit)} then 'steps_over_limit' end
        ], null)`,
        bytes: eb.ref('n.bytes'),
        settle_at: sql<Date>`now() + make_interval(secs => case when ${sql.ref('n.complete')} then 0
          when ${sql.ref('h.parent_id')} is null and ${sql.ref('h.ended_us')} is not null then ${sql.lit(QUIET_SECONDS)}
          else ${sql.lit(QUIET_WITHOUT_ROOT_SECONDS)} end)`,
      })),
  );
}
