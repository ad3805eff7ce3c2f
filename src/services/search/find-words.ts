import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { keyOf, type Searched } from '../../domain/text/search-words.ts';

/** How far back the index of texts reaches. Undefined: there is none. */
export async function readSearchIndex(query: Query) {
  const [index] = await query((db) =>
    db.selectFrom('search_index').select(['executions_from as executionsFrom', 'traces_from as tracesFrom']),
  );
  return index;
}

/**
 * The ids of rows whose words match one of the queries. A lateral join runs each through the index of words; `offset 0` keeps conditions around
 * it from leading PostgreSQL to another index.
 */
export const matchingWords = (db: Builder, queries: readonly string[]) =>
  db
    .selectFrom(unnestOf('b', { query: ['text', queries] }))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('search_words')
          .select('search_words.subject_id as id')
          .where(sql<SqlBool>`${sql.ref('search_words.words')} @@ ${sql.ref('b.query')}::tsquery`)
          .offset(sql.lit(0))
          .as('w'),
      (join) => join.onTrue(),
    )
    .select('w.id');

/** For the rest of a transaction: PostgreSQL does not know what comparing all words of a small table with many queries costs. */
export const preferIndexes = (query: Query) =>
  query((db) => db.selectNoFrom(sql`set_config('enable_seqscan', 'off', true)`.as('set')));

/** The most spans of time that one statement searches. */
const MAX_BUCKETS = 1_024;

/**
 * The queries for spans of time, from the newest to the oldest. Each span is four times as long as the one before, so that frequent words
 * read little, and rare ones take few statements.
 */
export function* queriesOfSpans(
  toQuery: (key: string) => string,
  {
    workspaceId,
    searched,
    newest,
    oldest,
  }: { workspaceId: string; searched: Searched; newest: number; oldest: number },
): Generator<string[]> {
  let count = 1;
  for (let from = newest; from >= oldest; ) {
    const until = Math.max(oldest, from - count + 1);
    yield Array.from({ length: from - until + 1 }, (_, at) => toQuery(keyOf(workspaceId, searched, from - at)));
    from = until - 1;
    count = Math.min(count * 4, MAX_BUCKETS);
  }
}
