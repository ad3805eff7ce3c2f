import { type Expression, type SqlBool, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type GivenColumns, selectPage } from '../../db/read-page.ts';
import { EXECUTION_COLUMN_NAMES, type ExecutionRow, JSON_TEXT_NAMES, lastExamined } from './executions.ts';
import { type ExecutionSearch, executionConditions, splitFilter, TOTAL_MS } from './filter.ts';

/** Executions that are put in order at most: the newest. */
export const SORTED_EXECUTIONS = 10_000;

export const EXECUTION_SORTS = ['cost', 'latency', 'tokens'] as const;
type SortName = (typeof EXECUTION_SORTS)[number];

/** By what executions are in order; with a minus the greatest come first. What they lack counts less than anything. */
export type ExecutionSort = SortName | `-${SortName}`;

/** Where a page ended: the last execution, and the first and the last of the ids that are in order, so that those that come meanwhile stay out. */
export interface SortedPosition {
  value: number;
  id: string;
  span: { from: string; to: string };
}

const VALUES: Record<SortName, Expression<number | null>> = {
  cost: sql`${sql.ref('executions.cost_amount')}::float8`,
  latency: sql`(${TOTAL_MS})::float8`,
  tokens: sql`(${sql.ref('executions.tokens_input')} + ${sql.ref('executions.tokens_output')})::float8`,
};

const GIVEN: GivenColumns<ExecutionRow & { sort_value: number }> = {
  columns: [...EXECUTION_COLUMN_NAMES, 'sort_value'],
  texts: JSON_TEXT_NAMES,
};

/** The ids of the newest {@link SORTED_EXECUTIONS} that match. Undefined: none does */
async function newestOf(query: Query, filter: ExecutionSearch): Promise<SortedPosition['span'] | undefined> {
  const last = splitFilter(filter).examinesMany ? await lastExamined(query, filter, undefined) : undefined;
  const [span] = await query((db) =>
    db
      .with('newest', (cte) =>
        cte
          .selectFrom('executions')
          .select('executions.id')
          .where((eb) => eb.and(executionConditions(eb, filter)))
          .$if(last !== undefined, (all) => all.where('executions.id', '>=', last ?? ''))
          .orderBy('executions.id', 'desc')
          .limit(SORTED_EXECUTIONS),
      )
      .selectNoFrom((eb) => [
        eb.selectFrom('newest').select('newest.id').orderBy('newest.id').limit(1).as('from'),
        eb.selectFrom('newest').select('newest.id').orderBy('newest.id', 'desc').limit(1).as('to'),
      ]),
  );
  return span?.from != null && span.to != null ? { from: span.from, to: span.to } : undefined;
}

/**
 * Of the newest {@link SORTED_EXECUTIONS} executions that match a page of at most `limit` after `after`, in the order of what no index
 * serves. With a condition that has no index they are looked for as `listExecutions` looks for one page.
 * @returns `next`: what is left comes after it. Undefined: nothing is left
 */
export async function listSortedExecutions(
  db: WorkspaceDatabase,
  filter: ExecutionSearch,
  sort: ExecutionSort,
  limit: number,
  after: SortedPosition | undefined,
): Promise<{ rows: ExecutionRow[]; next: SortedPosition | undefined }> {
  const { query } = db.heavy;
  const span = after?.span ?? (await newestOf(query, filter));
  if (span === undefined) return { rows: [], next: undefined };
  const order = sort.startsWith('-') ? 'desc' : 'asc';
  const value = sql<number>`coalesce(${VALUES[sort.replace('-', '') as SortName]}, -1)`;
  const { rows, more } = await selectPage(
    query,
    {
      select: (own) => {
        const list = own
          .selectFrom('executions')
          .select([...EXECUTION_COLUMN_NAMES, 'bytes', value.as('sort_value')])
          .where((eb) => eb.and(executionConditions(eb, filter)))
          .where('id', '>=', span.from)
          .where('id', '<=', span.to);
        if (after === undefined) return list;
        const isBehind = sql<SqlBool>`(${value} ${sql.raw(order === 'asc' ? '>' : '<')} ${after.value}::float8
          or (${value} = ${after.value}::float8 and ${sql.ref('id')} < ${after.id}::uuid))`;
        return list.where(isBehind);
      },
      orderBy: [
        ['sort_value', order],
        ['id', 'desc'],
      ],
      bytes: () => sql.ref<number>('bytes'),
    },
    limit,
    GIVEN,
  );
  const last = more ? rows.at(-1) : undefined;
  return { rows, next: last && { value: last.sort_value, id: last.id, span } };
}
