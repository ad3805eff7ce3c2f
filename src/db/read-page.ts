import { type Expression, type ExpressionBuilder, expressionBuilder, sql } from 'kysely';
import type { Query } from './query.ts';
import type { Builder, BuiltStatement } from './statement.ts';

/** The maximum size of the texts of a page, in bytes. A larger record fills a page. */
export const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** Part of a list. */
export interface Page<Row> {
  rows: Row[];
  /** Whether more rows follow. */
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
  /** Columns of the select; together they must be unique, with the last one as the tie-breaker. */
  orderBy: readonly (readonly [column: keyof Row & string, direction: 'asc' | 'desc'])[];
  /** The size of a row in bytes, from columns of the select. Calculated for a page: it must not read large values. */
  bytes: (eb: ExpressionBuilder<{ found: Row }, 'found'>) => Expression<number>;
}

/** The columns of a list to return, some of which are JSON that is returned as text. Calculated only for the rows of the page. */
export interface GivenColumns<Row> {
  columns: readonly (keyof Row & string)[];
  /** The columns that are JSON. */
  texts: ReadonlySet<string>;
}

/**
 * Reads a page that is limited by bytes as well as by rows. PostgreSQL cuts it, so that other rows never reach this process. A
 * page has at least one row, if there are any.
 * @param limit maximum number of rows
 * @param given default: all columns, unchanged
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
