import { type Expression, sql } from 'kysely';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { type GivenColumns, selectPage } from '../../db/read-page.ts';
import { isBehind, readSort, type Sort } from '../../db/sort.ts';
import { given } from '../../db/sql.ts';
import {
  EXECUTION_COLUMN_NAMES,
  type ExecutionRow,
  JSON_TEXT_NAMES,
  lastExamined,
  newestMatching,
} from './executions.ts';
import { type ExecutionSearch, executionConditions, TOTAL_MS } from './filter.ts';

/** The maximum number of executions that are sorted: the newest. */
export const SORTED_EXECUTIONS = 10_000;

export const EXECUTION_SORTS = ['cost', 'latency', 'tokens'] as const;
type SortName = (typeof EXECUTION_SORTS)[number];

/** The order of executions; with a minus, the greatest come first. Missing values count as the smallest. */
export type ExecutionSort = Sort<SortName>;

/** The end of a page: the last execution, and the first and the last id of the sorted executions, so that new ones stay out. */
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

/** The range of ids of the newest {@link SORTED_EXECUTIONS} that match. Undefined if none do */
async function spanOf(query: Query, filter: ExecutionSearch): Promise<SortedPosition['span'] | undefined> {
  const last = await lastExamined(query, filter);
  const [span] = await query((db) =>
    db
      .with('newest', () => newestMatching(db, filter, last).select('executions.id').limit(SORTED_EXECUTIONS))
      .selectNoFrom((eb) => [
        eb.selectFrom('newest').select('newest.id').orderBy('newest.id').limit(1).as('from'),
        eb.selectFrom('newest').select('newest.id').orderBy('newest.id', 'desc').limit(1).as('to'),
      ]),
  );
  return span?.from != null && span.to != null ? { from: span.from, to: span.to } : undefined;
}

/**
 * A page of at most `limit` after `after`, of the newest {@link SORTED_EXECUTIONS} executions that match, in an order that no
 * index serves. With an unindexed condition, they are searched like one page of `listExecutions`.
 * @returns `next`: the remaining executions come after it. Undefined if none remain
 */
export async function listSortedExecutions(
  db: WorkspaceDatabase,
  filter: ExecutionSearch,
  sort: ExecutionSort,
  limit: number,
  after: SortedPosition | undefined,
): Promise<{ rows: ExecutionRow[]; next: SortedPosition | undefined }> {
  const { query } = db.heavy;
  const span = after?.span ?? (await spanOf(query, filter));
  if (span === undefined) return { rows: [], next: undefined };
  const { by, direction } = readSort(sort);
  const value = sql<number>`coalesce(${VALUES[by]}, -1)`;
  const { rows, more } = await selectPage(
    query,
    {
      select: (own) =>
        own
          .selectFrom('executions')
          .select([...EXECUTION_COLUMN_NAMES, 'bytes', value.as('sort_value')])
          .where((eb) => eb.and(executionConditions(eb, filter)))
          .where('id', '>=', span.from)
          .where('id', '<=', span.to)
          .where((eb) =>
            eb.and(given(after, (last) => isBehind(value, direction, last.value, eb('id', '<', last.id)))),
          ),
      orderBy: [
        ['sort_value', direction],
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
