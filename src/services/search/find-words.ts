import { type SqlBool, sql } from 'kysely';
import type { Query } from '../../db/database.ts';
import { arraysOf, unnestOf } from '../../db/sql.ts';
import type { Builder } from '../../db/statement.ts';
import { keyOf, type Searched, wordQuery } from '../../domain/text/search-words.ts';

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

/** The number of new rows in which words are counted. */
export const SAMPLED = 50;
/** With fewer of them in the index, nothing is known about words. */
const ENOUGH = 20;
/** The share of rows from which a word is frequent. */
const FREQUENT = 0.2;

/** A row in which words are counted. */
interface Sampled {
  id: string;
  key: string;
}

/**
 * Leaves out the words that many new rows have, if others are left. PostgreSQL reads all entries of a frequent word, however few rows have the
 * other words, too; without it, a few more rows are found, whose texts are compared anyway.
 * @param newest reads some of the newest rows that are searched, with their keys
 */
export async function rareWords(
  query: Query,
  words: readonly string[],
  newest: () => readonly Sampled[] | Promise<readonly Sampled[]>,
): Promise<readonly string[]> {
  if (words.length < 2) return words;
  const asked = (await newest()).flatMap(({ id, key }) =>
    words.map((word) => ({ id, word, query: wordQuery([word], key) })),
  );
  const given = arraysOf(asked);
  if (asked.length === 0) return words;
  const counted = await query((db) =>
    db
      .selectFrom(unnestOf('n', { id: ['uuid', given.id], word: ['text', given.word], query: ['text', given.query] }))
      .innerJoin('search_words', 'search_words.subject_id', 'n.id')
      .select('n.word')
      .groupBy('n.word')
      .having((eb) => eb(eb.fn.countAll<number>(), '>=', ENOUGH))
      .having(
        sql<SqlBool>`avg((${sql.ref('search_words.words')} @@ ${sql.ref('n.query')}::tsquery)::int) >= ${FREQUENT}`,
      ),
  );
  const frequent = new Set(counted.map(({ word }) => word));
  const rare = words.filter((word) => !frequent.has(word));
  return rare.length === 0 ? words : rare;
}

/** The most spans of time that one statement searches. */
const MAX_BUCKETS = 1_024;

/**
 * The queries for spans of time, from the newest to the oldest. Each span is four times as long as the one before, so that frequent words
 * read little, and rare ones take few statements.
 */
export function* queriesOfSpans(
  words: readonly string[],
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
    yield Array.from({ length: from - until + 1 }, (_, at) =>
      wordQuery(words, keyOf(workspaceId, searched, from - at)),
    );
    from = until - 1;
    count = Math.min(count * 4, MAX_BUCKETS);
  }
}
