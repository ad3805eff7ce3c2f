import { sql } from 'kysely';
import type { Logger } from 'pino';
import { claim } from '../db/claim.ts';
import type { Query, SystemDatabase } from '../db/database.ts';
import { FIRST_ID, pause } from '../db/delete-in-batches.ts';
import { lockInSystem } from '../db/lock.ts';
import { createSearchTriggers, dropSearchTriggers } from '../db/search-triggers.ts';
import { inStates } from '../db/state-change.ts';
import { executionStates } from '../domain/execution-states.ts';
import { indexExecutions, indexTraces } from '../services/search/index-texts.ts';

/** The number of rows that one transaction indexes. */
const BATCH_ROWS = 200;
/** Later than every row. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LAST_TIME = new Date('9999-12-31T00:00:00Z');

const isKept = async (query: Query): Promise<boolean> =>
  (await query((db) => db.selectFrom('search_index').select('id'))).length > 0;

/** Puts the triggers in place. Everything that ends afterwards is noted; everything before is indexed backwards from here. */
async function begin(db: SystemDatabase): Promise<void> {
  await db.transaction(async (query) => {
    await lockInSystem(query, 'search_index');
    if (await isKept(query)) return;
    await createSearchTriggers(query);
    await query((all) =>
      all.insertInto('search_index').values({ id: 1, executions_from: LAST_ID, traces_from: LAST_TIME }),
    );
  });
}

async function end(db: SystemDatabase): Promise<void> {
  await db.transaction(async (query) => {
    await lockInSystem(query, 'search_index');
    if (!(await isKept(query))) return;
    await query((all) => all.deleteFrom('search_index'));
    await dropSearchTriggers(query);
  });
}

/** Indexes what was noted. @returns whether there may be more */
async function indexNoted(query: Query): Promise<boolean> {
  const noted = await query((db) =>
    db
      .deleteFrom('search_candidates')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('search_candidates')
          .select('id')
          .orderBy('id')
          .$call(claim(sql.lit(BATCH_ROWS))),
      )
      .returning(['workspace_id as workspaceId', 'subject_id as id', 'is_trace']),
  );
  await indexExecutions(
    query,
    noted.filter((row) => !row.is_trace).map(({ id }) => id),
  );
  await indexTraces(
    query,
    noted.filter((row) => row.is_trace),
  );
  return noted.length === BATCH_ROWS;
}

/** What is left of the older rows: `complete` after the last of them. */
type Left = 'more' | 'complete' | 'nothing';

/** Indexes the next older rows. */
async function indexOlder(query: Query): Promise<Left> {
  // One process at a time goes backwards.
  const [index] = await query((db) => db.selectFrom('search_index').selectAll().$call(claim(1)));
  if (index === undefined) return 'nothing';
  const { executions_from: before, traces_from: beforeTime } = index;
  if (before !== null) {
    const rows = await query((db) =>
      db
        .selectFrom('executions')
        .select('id')
        .where('id', '<', before)
        .where('id', '>', FIRST_ID)
        .where(inStates(executionStates, executionStates.final))
        .orderBy('id', 'desc')
        .limit(BATCH_ROWS),
    );
    await indexExecutions(
      query,
      rows.map(({ id }) => id),
    );
    const next = rows.length < BATCH_ROWS ? null : (rows.at(-1)?.id ?? null);
    await query((db) => db.updateTable('search_index').set({ executions_from: next }));
    return 'more';
  }
  if (beforeTime === null) return 'nothing';
  const rows = await query((db) =>
    db
      .selectFrom('traces')
      .select(['workspace_id as workspaceId', 'id', 'started_at as startedAt', 'settled_as as settledAs'])
      .where('started_at', '<', beforeTime)
      .orderBy('started_at', 'desc')
      .fetch(BATCH_ROWS, 'with ties'),
  );
  await indexTraces(
    query,
    rows.filter(({ settledAs }) => settledAs !== null),
  );
  const next = rows.length < BATCH_ROWS ? null : (rows.at(-1)?.startedAt ?? null);
  await query((db) => db.updateTable('search_index').set({ traces_from: next }));
  return next === null ? 'complete' : 'more';
}

/**
 * Keeps the index of the words of executions and traces, or removes it: new rows soon after they end, then older ones, the newest first, in
 * small steps that can be interrupted at any time. Safe to run in several processes at once.
 * @param isWanted the setting
 */
export async function keepSearchIndex(
  db: SystemDatabase,
  isWanted: boolean,
  log: Pick<Logger, 'info'>,
  stopping: AbortSignal,
): Promise<void> {
  if (isWanted !== (await isKept(db.query))) {
    await (isWanted ? begin(db) : end(db));
    log.info(
      isWanted ? 'building the search index, from the newest rows to the oldest' : 'the search index is removed',
    );
  }
  if (!isWanted) return;
  for (let left: Left = 'more'; left === 'more' && !stopping.aborted; ) {
    while (!stopping.aborted && (await db.transaction(indexNoted))) await pause(stopping);
    if (stopping.aborted) return;
    left = await db.transaction(indexOlder);
    if (left === 'complete') log.info('the search index is complete');
    if (left === 'more') await pause(stopping);
  }
}
