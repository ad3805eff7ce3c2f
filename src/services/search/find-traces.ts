import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { anyOfNext } from '../../db/claim.ts';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { anyOf, containing, given } from '../../db/sql.ts';
import type { Tables } from '../../db/tables.ts';
import { bucketAt, keyOf, wordsOf } from '../../domain/text/search-words.ts';
import { hasTerm } from '../executions/filter.ts';
import {
  behind,
  EXAMINED_TRACES,
  listTraces,
  pageOfTraces,
  positionOf,
  type TraceFilter,
  type TracePosition,
  traceConditions,
} from '../traces/traces.ts';
import { matchingWords, preferIndexes, queriesOfSpans, rareWords, readSearchIndex, SAMPLED } from './find-words.ts';

/** Traces found in the index whose texts are compared in one statement. */
const COMPARED_AT_ONCE = 100;

/** Whether a text occurs in the trace, in one of its steps, or in an execution in it. */
function occurs(eb: ExpressionBuilder<Tables, 'traces'>, term: string): Expression<SqlBool> {
  const pattern = containing(term);
  const content = sql.ref('s.content');
  return eb.or([
    eb('traces.name', 'ilike', pattern),
    eb('traces.input', 'ilike', pattern),
    eb('traces.output', 'ilike', pattern),
    eb.exists(
      eb
        .selectFrom('trace_steps as s')
        .select('s.span_id')
        .whereRef('s.trace_id', '=', 'traces.id')
        .whereRef('s.day', '>=', 'traces.first_day')
        .whereRef('s.day', '<=', 'traces.last_day')
        .where((step) =>
          step.or([
            step('s.name', 'ilike', pattern),
            step('s.error', 'ilike', pattern),
            sql<SqlBool>`exists (select from jsonb_path_query(${content}, 'strict $.** ? (@.type() == "string")') as said where said #>> '{}' ilike ${pattern})`,
          ]),
        ),
    ),
    eb.exists(
      eb
        .selectFrom('executions')
        .select('executions.id')
        .whereRef('executions.trace_id', '=', 'traces.id')
        .where(hasTerm(term)),
    ),
  ]);
}

/** The ids of a page, newest first. */
interface Found {
  /** One more than the page has, if there are more. */
  ids: string[];
  /** Where to continue, if there are not. */
  next: TracePosition | undefined;
}

/**
 * A page of {@link listTraces}. If there is an index, texts are searched in all steps of all settled traces; otherwise only in the beginnings of
 * the top step's texts.
 */
export async function searchTraces(
  db: WorkspaceDatabase,
  filter: TraceFilter,
  limit: number,
  after: TracePosition | undefined,
): ReturnType<typeof listTraces> {
  const words = wordsOf(filter.terms ?? []);
  const index = words.length === 0 ? undefined : await readSearchIndex(db.unbound.query);
  if (index?.tracesFrom !== null) return listTraces(db, filter, limit, after);
  return db.heavy.transaction(async (query) => {
    await preferIndexes(query);
    const found = await findTraces(query, db.workspaceId, words, filter, limit, after);
    const { rows, more } = await pageOfTraces(query, (eb) => [eb('traces.id', '=', anyOf(found.ids))], limit);
    return { rows, next: more ? positionOf(rows.at(-1)) : found.next };
  });
}

async function findTraces(
  query: Query,
  workspaceId: string,
  words: readonly string[],
  { terms = [], ...filter }: TraceFilter,
  limit: number,
  after: TracePosition | undefined,
): Promise<Found> {
  const edge = (direction: 'asc' | 'desc', count = 1) =>
    query((db) =>
      db
        .selectFrom('traces')
        .select(['started_at as startedAt', 'id'])
        .where((eb) => eb.and(given(after, (position) => behind(position, '<'))))
        .orderBy('started_at', direction)
        .orderBy('id', direction)
        .limit(count),
    );
  const sample = await edge('desc', SAMPLED);
  const [newest] = sample;
  const [oldest] = await edge('asc');
  const ids: string[] = [];
  if (newest === undefined || oldest === undefined) return { ids, next: undefined };
  const rare = await rareWords(query, words, () =>
    sample.map(({ id, startedAt }) => ({ id, key: keyOf(workspaceId, 'trace', bucketAt(startedAt.getTime())) })),
  );
  let position = after;
  let compared = 0;
  const spans = {
    workspaceId,
    searched: 'trace' as const,
    newest: bucketAt(newest.startedAt.getTime()),
    oldest: bucketAt(oldest.startedAt.getTime()),
  };
  for (const queries of queriesOfSpans(rare, spans))
    for (let more = true; more; ) {
      const from = position;
      const matching = await query((db) =>
        db
          .selectFrom('traces')
          .select(['started_at as startedAt', 'id'])
          .where('id', '=', anyOfNext(matchingWords(db, queries)))
          .where((eb) => eb.and(given(from, (last) => behind(last, '<'))))
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(COMPARED_AT_ONCE),
      );
      more = matching.length === COMPARED_AT_ONCE;
      if (matching.length === 0) continue;
      const rows = await query((db) =>
        db
          .selectFrom('traces')
          .select('id')
          .where('id', '=', anyOf(matching.map(({ id }) => id)))
          .where((eb) => eb.and([...traceConditions(eb, filter), ...terms.map((term) => occurs(eb, term))]))
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1 - ids.length),
      );
      ids.push(...rows.map(({ id }) => id));
      position = matching.at(-1);
      compared += matching.length;
      if (ids.length > limit) return { ids, next: undefined };
      if (compared >= EXAMINED_TRACES) return { ids, next: position };
    }
  return { ids, next: undefined };
}
