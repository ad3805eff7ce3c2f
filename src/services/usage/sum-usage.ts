import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import type { UsageKind, UsageUnit } from '../../db/entities/usage.ts';
import { inStates } from '../../db/state-change.ts';
import type { Builder } from '../../db/statement.ts';
import type { Tables } from '../../db/tables.ts';
import { USAGE_MEASURES } from '../../db/usage-triggers.ts';
import { executionStates, UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import type { UsageSpan } from './usage-span.ts';

/** The fields that usage can be grouped by. */
export const USAGE_GROUPS = ['prompt', 'model', 'day'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const COLUMN_OF_GROUP = { prompt: 'prompt_name', model: 'model', day: 'day' } as const;

export interface UsageFilter {
  span: UsageSpan;
  promptNames?: readonly string[] | undefined;
  model?: string | undefined;
}

const earlier = (a: Date, b: Date) => (a < b ? a : b);
const later = (a: Date, b: Date) => (a > b ? a : b);

/** Uses the sums of whole days and hours; and the single entries that are not in the sums yet or are outside of whole hours. */
function selectCalls(db: Builder, { since, until, hoursFrom, hoursTo, daysFrom, daysTo }: UsageSpan) {
  const sums = (unit: UsageUnit, from: Date, to: Date) =>
    db
      .selectFrom('usage_sums')
      .select(['kind', 'prompt_name', 'model', 'starts_at as at', ...USAGE_MEASURES])
      .where('unit', '=', unit)
      .where('starts_at', '>=', from)
      .where('starts_at', '<', to);
  const entries = ({ summed }: { summed: boolean }, from: Date, to: Date) =>
    db
      .selectFrom('usage_entries')
      .select(['kind', 'prompt_name', 'model', 'created_at as at', ...USAGE_MEASURES])
      .where((eb) => (summed ? eb.ref('summed') : eb.not(eb.ref('summed'))))
      .where('created_at', '>=', from)
      .where('created_at', '<', to);
  return sums('day', daysFrom, daysTo)
    .unionAll(sums('hour', hoursFrom, daysFrom))
    .unionAll(sums('hour', daysTo, hoursTo))
    .unionAll(entries({ summed: false }, since, until))
    .unionAll(entries({ summed: true }, since, earlier(hoursFrom, until)))
    .unionAll(entries({ summed: true }, later(hoursTo, hoursFrom), until));
}

/** Queued and running executions have no entry yet. The columns are those of {@link selectCalls}, in the same order. */
function selectUnfinished(db: Builder, { since, until }: UsageSpan) {
  return db
    .selectFrom('executions')
    .select([
      sql<UsageKind>`'execution'`.as('kind'),
      sql<string>`coalesce(prompt_name, '')`.as('prompt_name'),
      'model',
      'created_at as at',
      sql<number>`1`.as('calls'),
      sql<number>`0`.as('completed'),
      sql<number>`0`.as('failed'),
      'tokens_input',
      'tokens_output',
      'tokens_cached_input',
      'tokens_reasoning',
      sql<string>`coalesce(cost_amount, 0)`.as('cost_amount'),
      sql<number>`(cost_amount is not null)::int`.as('priced'),
      sql<number>`(cost_amount is null and answered_at is not null)::int`.as('unpriced'),
      sql<number>`0`.as('timed'),
      sql<number>`0`.as('model_ms'),
    ])
    .where(inStates(executionStates, UNFINISHED_EXECUTION))
    .where('created_at', '>=', since)
    .where('created_at', '<', until);
}

type Calls = ReturnType<typeof selectCalls> extends SelectQueryBuilder<infer _DB, infer _TB, infer Row> ? Row : never;

const total = (measure: string) => sql<string>`coalesce(sum(${sql.ref(measure)}), 0)`;
const count = (measure: string) => sql<number>`${total(measure)}::int`;

/** Sums of calls by the requested groups, in their order. Groups that were not requested have no column. */
function sumBy(
  db: Builder,
  calls: SelectQueryBuilder<Tables, never, Calls>,
  { promptNames, model }: UsageFilter,
  groups: readonly UsageGroup[],
) {
  let sums = db
    .selectFrom(calls.as('calls'))
    .$if(groups.includes('prompt'), (select) =>
      // Drafts without a prompt have none.
      select.select(sql<string | null>`nullif(prompt_name, '')`.as('prompt_name')),
    )
    .$if(groups.includes('model'), (select) => select.select('model'))
    .$if(groups.includes('day'), (select) =>
      select.select(sql<string>`to_char(at at time zone 'UTC', 'YYYY-MM-DD')`.as('day')),
    )
    .select([
      total('tokens_input').as('tokens_input'),
      total('tokens_output').as('tokens_output'),
      total('tokens_cached_input').as('tokens_cached_input'),
      total('tokens_reasoning').as('tokens_reasoning'),
      // Null if there are responses and none has a known price.
      sql<string | null>`case when ${total('priced')} = 0 and sum(unpriced) > 0 then null
                           else trim_scale(${total('cost_amount')}) end`.as('cost_amount'),
      count('unpriced').as('unpriced'),
      count('timed').as('timed'),
      sql<number | null>`round(sum(model_ms) / nullif(sum(timed), 0))::int`.as('mean_ms'),
    ]);
  if (promptNames !== undefined) sums = sums.where(sql<SqlBool>`prompt_name = any(${promptNames}::text[])`);
  if (model !== undefined) sums = sums.where('model', '=', model);
  for (const group of groups) {
    const column: Expression<string> = sql.ref(COLUMN_OF_GROUP[group]);
    sums = sums.groupBy(column).orderBy(column);
  }
  // A group whose calls were all taken back (`services/traces/take-back.ts`) has nothing.
  return groups.length === 0 ? sums : sums.having(sql<SqlBool>`sum(calls) <> 0`);
}

/** Tokens and cost of the executions created in a span, by the requested groups. */
export function sumUsage(query: Query, filter: UsageFilter, groups: readonly UsageGroup[]) {
  return query((db) => {
    const ended = db.selectFrom(selectCalls(db, filter.span).as('entries')).selectAll().where('kind', '=', 'execution');
    return sumBy(db, ended.unionAll(selectUnfinished(db, filter.span)), filter, groups).select([
      count('calls').as('executions'),
      count('completed').as('completed'),
      count('failed').as('failed'),
    ]);
  });
}

/** Sums over the executions of one group. `day`: `2026-01-31`, in UTC. */
export type UsageRow = Awaited<ReturnType<typeof sumUsage>>[number];

/**
 * Tokens and cost of evaluations in a span, by the requested groups: `examples` whose model was called, and `judgements`; each
 * judgement counts under the judge's own model.
 */
export function sumEvaluationUsage(query: Query, filter: UsageFilter, groups: readonly UsageGroup[]) {
  return query((db) => {
    const calls = db
      .selectFrom(selectCalls(db, filter.span).as('entries'))
      .selectAll()
      .where('kind', 'in', ['example', 'judgement']);
    const countOf = (kind: UsageKind) =>
      sql<number>`coalesce(sum(calls) filter (where kind = ${sql.lit(kind)}), 0)::int`;
    return sumBy(db, calls, filter, groups).select([
      countOf('example').as('examples'),
      countOf('judgement').as('judgements'),
    ]);
  });
}

/**
 * Tokens and cost of the judges of rules in a span, by the requested groups; the prompt group contains the rule's name.
 * @param filter its `promptNames` are ignored
 */
export function sumRuleUsage(query: Query, filter: Omit<UsageFilter, 'promptNames'>, groups: readonly UsageGroup[]) {
  return query((db) => {
    const calls = db.selectFrom(selectCalls(db, filter.span).as('entries')).selectAll().where('kind', '=', 'rule');
    return sumBy(db, calls, filter, groups).select(count('calls').as('judgements'));
  });
}
