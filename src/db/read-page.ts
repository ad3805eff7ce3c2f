import { type Expression, type ExpressionBuilder, expressionBuilder, sql } from 'kysely';
import type { Query } from './query.ts';
import type { Builder, BuiltStatement } from './statement.ts';

/** What the texts of a page take at most, in bytes. A larger record has a page to itself. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Part of a list. */
export interface Page<Row> {
  rows: Row[];
  /** Whether there are rows behind them. */
  more: boolean;
}

interface PageColumns {
  page_found: number;
  page_row: number;
  page_bytes: number;
}

/** A list. */
export interface BuiltList<Row> {
  select: (db: Builder) => BuiltStatement<Row> & Expression<Row>;
  /** Columns of the select, the last of which tells all rows apart. */
  orderBy: readonly (readonly [column: keyof Row & string, direction: 'asc' | 'desc'])[];
  /** How many bytes a row takes, from columns of the select. It is worked out for a page: it must not read large values. */
  bytes: (eb: ExpressionBuilder<{ found: Row }, 'found'>) => Expression<number>;
}

/** Of a list those columns that are given, where some are JSON that is given as its text. It is written for the rows of the page alone. */
export interface GivenColumns<Row> {
  columns: readonly (keyof Row & string)[];
  /** Of these, JSON. */
  texts: ReadonlySet<string>;
}

/**
 * Reads a page that is bounded by bytes as well as by rows. PostgreSQL cuts it, so that what does not belong to it never
 * reaches this process. A page has at least one row, unless there is none.
 * @param limit rows at most
 * @param given default: all columns, as they are
 */
export async function selectPage<Row, Given = Row>(
  query: Query,
  { select, orderBy, bytes }: BuiltList<Row>,
  limit: number,
  given?: GivenColumns<Given>,
): Promise<Page<Given>> {
  const order = sql.join(orderBy.map(([column, direction]) => sql`${sql.ref(column)} ${sql.raw(direction)}`));
  const texts = given?.columns.map((name) =>
    given.texts.has(name) ? sql`${sql.ref(name)}::text`.as(name) : sql.ref(name).as(name),
  );
  const rows = await query((db) => {
    const page = db
      .selectFrom(
        sql<PageColumns>`(
          select *, count(*) over ()::int as page_found, (row_number() over list)::int as page_row,
            sum(${bytes(expressionBuilder<{ found: Row }, 'found'>())}) over (list rows unbounded preceding) as page_bytes
          from (${select(db)} order by ${order} limit ${limit + 1}) as found
          window list as (order by ${order})
        )`.as('page'),
      )
      .where('page_row', '<=', limit)
      .where((eb) => eb.or([eb('page_bytes', '<=', MAX_PAGE_BYTES), eb('page_row', '=', 1)]))
      .orderBy('page_row');
    return (texts === undefined ? page.selectAll() : page.select('page_found').select(texts)).$castTo<
      Given & PageColumns
    >();
  });
  return { rows, more: (rows[0]?.page_found ?? 0) > rows.length };
}
