import { anyOfNext } from '../../db/claim.ts';
import type { Query, WorkspaceDatabase } from '../../db/database.ts';
import { FIRST_ID } from '../../db/delete-in-batches.ts';
import { anyOf, given } from '../../db/sql.ts';
import { UNFINISHED_EXECUTION } from '../../domain/execution-states.ts';
import { idsOfSpan } from '../../domain/ids.ts';
import { bucketOfId, keyOf, wordsOf } from '../../domain/text/search-words.ts';
import {
  EXAMINED_EXECUTIONS,
  lastExamined,
  listExecutions,
  newestMatching,
  pageOfExecutions,
  SEARCHED_BYTES,
} from '../executions/executions.ts';
import { type ExecutionSearch, executionConditions } from '../executions/filter.ts';
import { matchingWords, preferIndexes, queriesOfSpans, rareWords, readSearchIndex, SAMPLED } from './find-words.ts';

/** Executions whose texts are read before the index is: they include those that are not in it yet, and all pages of frequent words. */
const READ_FIRST = 500;
/** Executions found in the index whose texts are compared in one statement. */
const COMPARED_AT_ONCE = 250;

const isUnfinished = ({ status }: ExecutionSearch) =>
  (UNFINISHED_EXECUTION as readonly (string | undefined)[]).includes(status);

/** The ids of a page, newest first. */
interface Found {
  /** One more than the page has, if there are more. */
  ids: string[];
  /** Where to continue, if there are not. */
  next: string | undefined;
}

/** A page of {@link listExecutions}, whose texts are searched with the index if there is one. */
export async function searchExecutions(
  db: WorkspaceDatabase,
  filter: ExecutionSearch,
  limit: number,
  before: string | undefined,
): ReturnType<typeof listExecutions> {
  const words = filter.terms && !isUnfinished(filter) ? wordsOf(filter.terms) : [];
  const index = words.length === 0 ? undefined : await readSearchIndex(db.unbound.query);
  if (index === undefined) return listExecutions(db, filter, limit, before);
  const from = index.executionsFrom;
  if (from !== null && before !== undefined && before <= from) return listExecutions(db, filter, limit, before);
  return db.heavy.transaction(async (query) => {
    await preferIndexes(query);
    const search = { workspaceId: db.workspaceId, words, from };
    const found = await findExecutions(query, search, filter, limit, before);
    const { rows, more } = await pageOfExecutions(query, (eb) => [eb('id', '=', anyOf(found.ids))], limit);
    return { rows, next: more ? rows.at(-1)?.id : found.next };
  });
}

/**
 * Searches texts with the index, newest first over all executions. A page compares at most {@link EXAMINED_EXECUTIONS} executions of the index with
 * the filter, and at most {@link SEARCHED_BYTES}.
 */
async function findExecutions(
  query: Query,
  { workspaceId, words, from }: { workspaceId: string; words: readonly string[]; from: string | null },
  filter: ExecutionSearch,
  limit: number,
  before: string | undefined,
): Promise<Found> {
  const last = await lastExamined(query, filter, before, READ_FIRST);
  const read = await query((db) =>
    newestMatching(db, filter, last)
      .select('executions.id')
      .where((eb) => eb.and(given(before, (id) => eb('executions.id', '<', id))))
      .limit(limit + 1),
  );
  const ids = read.map(({ id }) => id);
  if (ids.length > limit || last === undefined) return { ids, next: undefined };

  const [oldest] = await query((db) => db.selectFrom('executions').select('id').orderBy('id').limit(1));
  const since = filter.since && idsOfSpan(new Date(filter.since), undefined).from;
  const floor = [from, filter.ids?.from, since, oldest?.id]
    .flatMap((id) => id ?? [])
    .reduce((highest, id) => (id > highest ? id : highest), FIRST_ID);
  const rare = await rareWords(query, words, async () => {
    const newest = await query((db) =>
      db.selectFrom('executions').select('id').where('id', '<', last).orderBy('id', 'desc').limit(SAMPLED),
    );
    return newest.map(({ id }) => ({ id, key: keyOf(workspaceId, 'execution', bucketOfId(id)) }));
  });
  let position = last;
  let [compared, bytes] = [0, 0];
  const spans = { workspaceId, searched: 'execution' as const, newest: bucketOfId(last), oldest: bucketOfId(floor) };
  for (const queries of queriesOfSpans(rare, spans))
    for (let more = true; more; ) {
      const matching = await query((db) =>
        db
          .selectFrom('executions')
          .select(['executions.id', 'executions.bytes'])
          .where('executions.id', '=', anyOfNext(matchingWords(db, queries)))
          .where('executions.id', '<', position)
          .where('executions.id', '>=', floor)
          .orderBy('executions.id', 'desc')
          .limit(COMPARED_AT_ONCE),
      );
      more = matching.length === COMPARED_AT_ONCE;
      if (matching.length === 0) continue;
      const rows = await query((db) =>
        db
          .selectFrom('executions')
          .select('executions.id')
          .where((eb) => eb.and(executionConditions(eb, filter)))
          .where('executions.id', '=', anyOf(matching.map(({ id }) => id)))
          .orderBy('executions.id', 'desc')
          .limit(limit + 1 - ids.length),
      );
      ids.push(...rows.map(({ id }) => id));
      position = matching.at(-1)?.id ?? position;
      compared += matching.length;
      bytes += matching.reduce((sum, row) => sum + row.bytes, 0);
      if (ids.length > limit) return { ids, next: undefined };
      if (compared >= EXAMINED_EXECUTIONS || bytes >= SEARCHED_BYTES) return { ids, next: position };
    }
  if (from === null) return { ids, next: undefined };
  return { ids, next: from < last ? from : last };
}
