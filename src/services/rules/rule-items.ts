import { type Expression, type SqlBool, sql } from 'kysely';
import { claim } from '../../db/claim.ts';
import type { Query } from '../../db/database.ts';
import { MAX_PAGE_BYTES } from '../evaluations/run/open-examples.ts';
import { type ExecutionFilter, executionConditions } from '../executions/filter.ts';
import type { LoadedItems, OpenItem } from './open-item.ts';
import type { RuleSpec, RuleWork } from './rule-work.ts';
import { loadTraceItems } from './trace-items.ts';

/** The maximum time that an execution or trace waits for a rule that can't keep up. */
const MAX_WAIT = sql`interval '24 hours'`;
/** The maximum number of items that a statement deletes. */
const BATCH_SIZE = 2_000;

const BYTES = sql<number>`coalesce(${sql.ref('executions.bytes')}, 0)`;

/**
 * The next items, in the order in which their executions or traces completed. Deletes items of those that are gone or do not match.
 * @param query bound to the workspace
 * @param taken numbers of items in progress
 * @returns at most `limit` and at most {@link MAX_PAGE_BYTES}; `more`: whether there may be others
 */
export async function loadItems(
  query: Query,
  work: RuleWork,
  spec: RuleSpec,
  taken: readonly number[],
  limit: number,
): Promise<{ items: OpenItem[]; more: boolean }> {
  const { items, unmeant } = await (spec.traceFilter === null
    ? loadExecutions(query, work, spec.filter ?? {}, taken, limit)
    : loadTraceItems(query, work, spec.traceFilter, taken, limit));
  if (unmeant.length > 0) await deleteItems(query, unmeant);
  return { items, more: items.length + unmeant.length > 0 };
}

async function loadExecutions(
  query: Query,
  { id }: RuleWork,
  filter: ExecutionFilter,
  taken: readonly number[],
  limit: number,
): Promise<LoadedItems> {
  const rows = await query((db) =>
    db
      .selectFrom(
        db
          .selectFrom('rule_items as i')
          .leftJoin('executions', (join) =>
            join.onRef('executions.id', '=', 'i.execution_id').on((eb) => eb.and(executionConditions(eb, filter))),
          )
          .select([
            'i.id as seq',
            'i.execution_id as executionId',
            'executions.output',
            'executions.tool_calls as toolCalls',
          ])
          .select(['executions.variables', 'executions.metadata', 'executions.input'])
          .select(['executions.input_messages as inputMessages', 'executions.model_ms as modelMs'])
          .select(sql<string | null>`${sql.ref('executions.cost_amount')}::text`.as('costUsd'))
          .select([BYTES.as('bytes'), (eb) => eb('executions.id', 'is not', null).as('isMeant')])
          .select(sql<number>`sum(${BYTES}) over (order by i.id)`.as('until'))
          .where('i.work_id', '=', id)
          .where(sql<SqlBool>`i.id <> all(${taken}::bigint[])`)
          .orderBy('i.id')
          .limit(limit)
          .as('page'),
      )
      .selectAll()
      .where((eb) => eb.or([eb('until', '<=', MAX_PAGE_BYTES), eb('until', '=', eb.ref('bytes'))]))
      .orderBy('seq'),
  );
  return {
    items: rows.flatMap(({ isMeant, executionId, output, toolCalls, ...item }) =>
      isMeant && executionId !== null
        ? [
            {
              ...(item as Omit<OpenItem, 'subject' | 'output' | 'toolCalls'>),
              subject: { executionId },
              output: output ?? '',
              toolCalls: toolCalls ?? [],
            },
          ]
        : [],
    ),
    unmeant: rows.filter(({ isMeant }) => !isMeant).map(({ seq }) => seq),
  };
}

/**
 * Deletes items. Deleting an item marks it as done: everything that belongs to it must be in the same transaction.
 * @returns the numbers of the items that existed
 */
export async function deleteItems(query: Query, seqs: readonly number[]): Promise<Set<number>> {
  const gone = await query((db) =>
    db.deleteFrom('rule_items').where(sql<SqlBool>`id = any(${seqs}::bigint[])`).returning('id'),
  );
  return new Set(gone.map(({ id }) => id));
}

/** The counts about executions or traces. */
export interface RuleCounts {
  scored: number;
  failed: number;
  skipped: number;
  skipped_budget: number;
  /** Decimal, US dollars. */
  spent: string;
}

const NOTHING: RuleCounts = { scored: 0, failed: 0, skipped: 0, skipped_budget: 0, spent: '0' };
const COUNTS = ['scored', 'failed', 'skipped', 'skipped_budget', 'spent'] as const;

/** The columns for raising the existing counts of a day. */
export const raisedCounts = () =>
  Object.fromEntries(
    COUNTS.map((column) => [column, sql<never>`${sql.ref(`rule_days.${column}`)} + ${sql.ref(`excluded.${column}`)}`]),
  );

/** Adds to the counts of a day. @param query bound to the workspace */
export async function addCounts(
  query: Query,
  { id }: RuleWork,
  day: string,
  counts: Partial<RuleCounts>,
): Promise<void> {
  await query((db) =>
    db
      .insertInto('rule_days')
      .values({ work_id: id, day, ...NOTHING, ...counts })
      .onConflict((conflict) => conflict.columns(['work_id', 'day']).doUpdateSet(raisedCounts())),
  );
}

/** Deletes due items and counts them, in small steps. @param due which items */
async function skip(
  query: Query,
  { id }: RuleWork,
  day: string,
  column: 'skipped' | 'skipped_budget',
  due: Expression<SqlBool>,
): Promise<void> {
  for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
    const [skipped] = await query((db) =>
      db
        .with('gone', (cte) =>
          cte
            .deleteFrom('rule_items')
            .where('id', 'in', (eb) =>
              eb
                .selectFrom('rule_items')
                .select('id')
                .where('work_id', '=', id)
                .where(due)
                .orderBy('id')
                .$call(claim(BATCH_SIZE)),
            )
            .returning('id'),
        )
        .with('counted', (cte) =>
          cte
            .insertInto('rule_days')
            .columns(['work_id', 'day', column])
            .expression(
              cte
                .selectFrom('gone')
                .select([
                  sql<string>`${id}::uuid`.as('work_id'),
                  sql<string>`${day}::date`.as('day'),
                  sql<number>`count(*)`.as('count'),
                ])
                .having(sql<SqlBool>`count(*) > 0`),
            )
            .onConflict((conflict) => conflict.columns(['work_id', 'day']).doUpdateSet(raisedCounts())),
        )
        .selectFrom('gone')
        .select(sql<number>`count(*)::int`.as('count')),
    );
    count = skipped?.count ?? 0;
  }
}

/** Skips due items because the budget is used up. @param query bound to the workspace */
export const skipForBudget = (query: Query, work: RuleWork, day: string): Promise<void> =>
  skip(query, work, day, 'skipped_budget', sql<SqlBool>`true`);

/**
 * Skips items that have waited for a day because the rule can't keep up, which bounds the number of waiting items. @param query
 * bound to the workspace
 */
export const skipOverdue = (query: Query, work: RuleWork, day: string): Promise<void> =>
  skip(query, work, day, 'skipped', sql<SqlBool>`created_at < now() - ${MAX_WAIT}`);
